// Shows the OpenAPI document as a page one can read; text is only ever set as text.
const make = (tag, text, ...children) => {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
};

const short = (schema, all, depth = 0) => {
  if (!schema) return "";
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return depth > 0 ? name : short(all[name], all, depth);
  }
  if (schema.anyOf) return schema.anyOf.map((one) => short(one, all, depth + 1)).join(" | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return `[${short(schema.items, all, depth + 1) || "…"}]`;
  if (schema.properties) {
    const pad = "  ".repeat(depth + 1);
    const rows = Object.entries(schema.properties).map(([name, one]) => {
      const optional = (schema.required || []).includes(name) ? "" : "?";
      return `${pad}${name}${optional}: ${short(one, all, depth + 1)}`;
    });
    return `{\n${rows.join("\n")}\n${"  ".repeat(depth)}}`;
  }
  return schema.type || "any";
};

const block = (title, text) => (text ? [make("h3", title), make("pre", text)] : []);

const call = (path, method, about, all) => {
  const body = make("div");
  const parameters = about.parameters.map((p) => `${p.name} (${p.in})${p.description ? `  ${p.description}` : ""}`);
  body.append(...block("Parameters", parameters.join("\n")));
  for (const [kind, { schema }] of Object.entries(about.requestBody?.content || {})) {
    body.append(...block(`Takes ${kind}`, short(schema, all)));
  }
  for (const [status, answer] of Object.entries(about.responses)) {
    const [kind, content] = Object.entries(answer.content || {})[0] || [];
    const text = status.startsWith("2") && kind === "application/json" ? short(content.schema, all) : kind === "application/problem+json" ? answer.description : kind || "nothing";
    body.append(...block(`${status}`, text));
  }
  const summary = make("summary", "", make("b", method.toUpperCase()), path, make("span", about.summary));
  return make("details", "", summary, body);
};

const show = (api) => {
  document.querySelector("#version").textContent = api.info.version;
  const place = document.querySelector("#calls");
  const sections = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const tag = about.tags[0];
      if (!sections.has(tag)) sections.set(tag, place.appendChild(make("section", "", make("h2", tag))));
      sections.get(tag).append(call(path, method, about, api.components.schemas));
    }
  }
  const events = api.components.schemas.Event.anyOf.map(({ $ref }) => $ref.split("/").pop());
  const section = place.appendChild(make("section", "", make("h2", "events")));
  for (const name of events) {
    const schema = api.components.schemas[name];
    const summary = make("summary", "", make("b", ""), schema.properties.type.enum[0]);
    section.append(make("details", "", summary, make("div", "", ...block("Data", short(schema, api.components.schemas)))));
  }
};

fetch("/openapi.json")
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error(response.statusText))))
  .then(show)
  .catch((error) => {
    document.querySelector("#calls").textContent = `The document could not be read: ${error.message}.`;
  });
