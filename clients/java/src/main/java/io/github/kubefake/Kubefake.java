package io.github.kubefake;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each test of a class a Kubernetes API server of its own.
 *
 * <p>The class has a server, and each test gets a fork of it, which ends with the test: in each
 * parameter of the test, of {@code @BeforeEach} and of {@code @AfterEach}, and in each field that is
 * not static, whose type is {@link Kube}, fabric8's {@code KubernetesClient} or the official {@code
 * ApiClient}. Parameters of {@code @BeforeAll} and {@code @AfterAll} are of the server of the class:
 * what is stored there is in each fork. A field that is annotated itself has a server with options
 * of its own, in a class that has the annotation too.
 *
 * <p>Classes with the same options share a process. Tests may run in parallel. The exception of a
 * failed test has a suppressed one with the story of its server.
 */
@Target({ElementType.TYPE, ElementType.FIELD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(KubefakeExtension.class)
public @interface Kubefake {
  /** The Kubernetes release, such as 1.35; by default the newest one. */
  String release() default "";

  /** The controllers that run, such as * or deployment-controller; by default none. */
  String[] controllers() default {};

  /** Files and directories with CustomResourceDefinitions. */
  String[] crds() default {};

  /** Files and directories with objects that the server begins with. */
  String[] objects() default {};

  /** Files and directories with faults. */
  String[] faults() default {};

  /** Whether the server has HTTPS and authorizes users by RBAC. */
  boolean rbac() default false;

  /** The time at which a clock stands that only the test moves, such as 2030-01-01T09:00:00Z. */
  String clock() default "";

  /** Further flags of {@code fakeapi serve}. */
  String[] flags() default {};
}
