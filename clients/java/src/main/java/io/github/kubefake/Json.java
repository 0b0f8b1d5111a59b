package io.github.kubefake;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads and writes JSON: maps, lists, strings, booleans, null, {@code Long} for integers, and
 * {@code Double} for other numbers. The package has no dependency that does it.
 */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Returns the value of a JSON text. */
  static Object read(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.space();
    if (json.at < text.length()) {
      throw json.unexpected();
    }
    return value;
  }

  private Object value() {
    space();
    char c = peek();
    switch (c) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return string();
      case 't':
        return literal("true", true);
      case 'f':
        return literal("false", false);
      case 'n':
        return literal("null", null);
      default:
        return number();
    }
  }

  private Map<String, Object> object() {
    Map<String, Object> out = new LinkedHashMap<>();
    at++;
    space();
    if (take('}')) {
      return out;
    }
    do {
      space();
      String name = string();
      space();
      expect(':');
      out.put(name, value());
      space();
    } while (take(','));
    expect('}');
    return out;
  }

  private List<Object> array() {
    List<Object> out = new ArrayList<>();
    at++;
    space();
    if (take(']')) {
      return out;
    }
    do {
      out.add(value());
      space();
    } while (take(','));
    expect(']');
    return out;
  }

  private String string() {
    expect('"');
    StringBuilder out = new StringBuilder();
    while (!take('"')) {
      char c = peek();
      at++;
      out.append(c == '\\' ? escaped() : c);
    }
    return out.toString();
  }

  private char escaped() {
    char c = peek();
    at++;
    switch (c) {
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
      default:
        return c;
    }
  }

  private Object number() {
    int start = at;
    while (at < text.length() && "+-.0123456789Ee".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String number = text.substring(start, at);
    try {
      if (number.matches("-?\\d{1,18}")) {
        return Long.valueOf(number);
      }
      return Double.valueOf(number);
    } catch (NumberFormatException e) {
      at = start;
      throw unexpected();
    }
  }

  private Object literal(String name, Object value) {
    if (!text.startsWith(name, at)) {
      throw unexpected();
    }
    at += name.length();
    return value;
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private char peek() {
    if (at == text.length()) {
      throw unexpected();
    }
    return text.charAt(at);
  }

  private boolean take(char c) {
    if (at < text.length() && text.charAt(at) == c) {
      at++;
      return true;
    }
    return false;
  }

  private void expect(char c) {
    if (!take(c)) {
      throw unexpected();
    }
  }

  private IllegalArgumentException unexpected() {
    String found = at < text.length() ? "'" + text.charAt(at) + "'" : "the end";
    return new IllegalArgumentException("JSON has " + found + " at position " + at);
  }

  /** Returns the JSON text of a value. */
  static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out) {
    if (value instanceof JsonObject) {
      write(((JsonObject) value).toMap(), out);
    } else if (value instanceof Map) {
      String separator = "{";
      for (Map.Entry<?, ?> e : ((Map<?, ?>) value).entrySet()) {
        out.append(separator);
        quote(e.getKey().toString(), out);
        out.append(':');
        write(e.getValue(), out);
        separator = ",";
      }
      out.append(separator.equals("{") ? "{}" : "}");
    } else if (value instanceof Iterable) {
      String separator = "[";
      for (Object item : (Iterable<?>) value) {
        out.append(separator);
        write(item, out);
        separator = ",";
      }
      out.append(separator.equals("[") ? "[]" : "]");
    } else if (value instanceof CharSequence) {
      quote(value.toString(), out);
    } else if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else {
      throw new IllegalArgumentException(value.getClass().getName() + " is not a value of JSON");
    }
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  static String string(Object value) {
    return value == null ? "" : (String) value;
  }

  static long integer(Object value) {
    return value == null ? 0 : ((Number) value).longValue();
  }

  static double number(Object value) {
    return value == null ? 0 : ((Number) value).doubleValue();
  }

  static boolean bool(Object value) {
    return value != null && (Boolean) value;
  }

  static <T> Function<Object, List<T>> list(Function<Object, T> item) {
    return value -> {
      List<T> out = new ArrayList<>();
      if (value != null) {
        ((Iterable<?>) value).forEach(v -> out.add(item.apply(v)));
      }
      return out;
    };
  }

  static <T> Function<Object, Map<String, T>> map(Function<Object, T> item) {
    return value -> {
      Map<String, T> out = new LinkedHashMap<>();
      if (value != null) {
        ((Map<?, ?>) value).forEach((name, v) -> out.put((String) name, item.apply(v)));
      }
      return out;
    };
  }

  /** Returns the fields of an object. */
  static Map<String, Object> fields(Object object) {
    return map(v -> v).apply(object);
  }
}
