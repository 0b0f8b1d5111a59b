package io.github.kubefake;

import java.util.LinkedHashMap;
import java.util.Map;

/** A JSON object whose fields have methods of a subclass. It may have fields that no method has. */
public abstract class JsonObject {
  private final Map<String, Object> fields;

  JsonObject() {
    fields = new LinkedHashMap<>();
  }

  JsonObject(Object fields) {
    this.fields = Json.fields(fields);
  }

  /** The fields, with values as JSON has them. */
  public final Map<String, Object> toMap() {
    return new LinkedHashMap<>(fields);
  }

  final Object get(String name) {
    return fields.get(name);
  }

  final void set(String name, Object value) {
    fields.put(name, value);
  }

  /** The object as JSON. */
  @Override
  public final String toString() {
    return Json.write(fields);
  }
}
