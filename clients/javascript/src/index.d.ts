import type { Compaction, Fault, Lag, Lags, Revision, Settling, Webhooks, Write } from './control.js';
import { Control } from './control.js';

export * from './control.js';

/** A request to the control endpoint failed, or the server did not start. */
export class KubeError extends Error {
  /** The HTTP status code; 0 if the server did not start. */
  code: number;
}

/** The path of the command fakeapi: FAKEAPI_BINARY, the one in the package of the platform, or the one in PATH. */
export function findBinary(): string;

export interface StartOptions {
  /** Flags of `fakeapi serve`, such as `--tls` or `--crds`, `config/crd`. */
  flags?: string[];
  /** The path of the command; by default `findBinary()`. */
  binary?: string;
}

/** Starts a server. It ends with `close`, or with the process. */
export function start(options?: StartOptions): Promise<Kube>;

export interface KubeTestsOptions extends StartOptions {
  /** Loads what all tests need into the server from which they fork. */
  setup?: (server: Kube) => Promise<unknown>;
  /** A directory for the stories of failing tests, as pages; by default FAKEAPI_STORIES. */
  storyDir?: string;
}

/**
 * Returns a function that gives a test a server of its own, for any test runner:
 *
 *     const withKube = kubeTests({ flags: ['--tls'] });
 *     test('paints', withKube(async (kube) => { ... }));
 *
 * The first test starts a server, and each test gets a fork of it, which ends with the
 * test. If the test fails, the message of its error has the story of the fork.
 */
export function kubeTests(options?: KubeTestsOptions): WithKube;

export type WithKube = <Args extends unknown[], Result>(
  test: (kube: Kube, ...args: Args) => Result,
) => (...args: Args) => Promise<Awaited<Result>>;

/** `kubeTests()`, for tests that need no flags and no setup. */
export const withKube: WithKube;

/** A Kubernetes object. Its shape is not checked here, but by the server. */
export type KubeObject = Record<string, any>;

/** A server. */
export interface Kube {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  /** The path of a kubeconfig file. Its user is a member of system:masters. */
  readonly kubeconfig: string;
  /** Every request of the control endpoint. */
  readonly control: Control;
  readonly clock: Clock;

  /** Starts a server with the same state, on a port of its own. The two are independent. */
  fork(): Promise<Kube>;
  /** The path of a kubeconfig file of a user. The server needs the flag --tls. */
  kubeconfigFor(name: string, groups?: string[]): Promise<string>;
  /** Stores objects with their status, without admission and validation of their spec. */
  store(...objects: KubeObject[]): Promise<Revision>;
  /** Removes objects at once, without finalizers. */
  remove(...objects: KubeObject[]): Promise<Revision>;
  /** Delays the watch caches of a resource, such as pods or deployments.apps; * is all. */
  lag(resource: string, lag: Omit<Lag, 'resource'>): Promise<Lags>;
  /** Stops the watch caches of a resource: reads and watches of them show what they show now. */
  freeze(resource?: string): Promise<Lags>;
  /** Ends the lag of a resource. */
  thaw(resource?: string): Promise<Lags>;
  /** Injects faults, with the fields of fault files. */
  inject(...faults: Fault[]): Promise<Injection>;
  /** Removes old versions of objects: older watches and continue tokens get 410. */
  compact(options?: Compaction): Promise<Revision>;
  /**
   * Waits until the controllers, the watches and the clients have nothing left to do. With
   * `ahead`, moves a manual clock up to that long ahead.
   */
  settle(options?: Settling): Promise<void>;
  /** Lets the test serve the webhooks of the configurations that the server has. */
  installWebhooks(options?: Webhooks): Promise<WebhookServerOptions>;
  /** The writes in the history, with their writers. */
  writes(): Promise<Write[]>;
  /** The last events on the server: who wrote what, who had not seen it, what failed. */
  story(): Promise<string>;
  /** The whole story as an HTML page. */
  storyPage(): Promise<string>;
  /** Ends the server and its forks. Further calls do nothing. */
  close(): Promise<void>;
}

/** The clock of a server. The flag --manual-clock stops it. */
export interface Clock {
  now(): Promise<Date>;
  /** Moves the clock forward, and runs the timers that are due. `10m` is ten minutes. */
  advance(by: string): Promise<void>;
}

/** Injected faults. */
export interface Injection {
  readonly ids: string[];
  /** How many requests, watches and webhook calls the faults have hit. */
  hits(): Promise<number>;
  /** Ends the faults and their effects. */
  remove(): Promise<void>;
}

/** The options of https.createServer, and the address to listen on. */
export interface WebhookServerOptions {
  host: string;
  port: number;
  /** The certificate of the webhooks in PEM. */
  cert: string;
  key: string;
  /** The CA certificate in PEM, for configurations that are written later. */
  caBundle: string;
}
