// What the records of a database are made of; for administrators, a container's schema, too.

import { choice, element, labelled, newestOnly, number, table, trying } from "/console/elements.js";
import { containerSchema } from "/console/deployment.js";
import { placeText, service } from "/console/service.js";
import { placeForm } from "/console/records.js";

/** The form that names a container's schema, and below it what is done to that. */
async function ofContainer(context) {
    const body = element("div", {});
    const containers = await trying(() => service.containers()) ?? [];
    const container = choice("container", containers, context.place.container);
    const environment = choice("environment", ["development", "production"],
        context.place.environment);
    const form = element("form", { class: "panel", "aria-label": "Schema of a container" },
        labelled("Container", container), labelled("Environment", environment),
        element("button", { class: "main" }, "Show"));
    const choose = newestOnly();
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const place = { container: container.value, environment: environment.value };
        context.place = { ...context.place, ...place };
        body.replaceChildren();
        trying(() => containerSchema(body, place, choose()));
    });
    return [element("h2", {}, "Of a container"), form, body, element("h2", {}, "In a database")];
}

export async function schema(main, context) {
    const list = element("div", {});
    const open = (place, isNewest) => trying(async () => {
        list.replaceChildren();
        const types = await service.schema(place);
        if (!isNewest()) return;
        const where = element("p", { class: "soft" }, `In ${placeText(place)}.`);
        list.replaceChildren(where, ...types.flatMap((type) => [
            element("h3", {}, type.name),
            table(type.name, [
                { title: "Field", cell: (field) => element("code", {}, field.name) },
                { title: "Type", cell: (field) => field.type },
                { title: "Records", isNumber: true, cell: (field) => number(field.records) },
            ], type.fields, "It has no fields."),
        ]));
        if (types.length === 0) {
            list.replaceChildren(element("p", { class: "soft" }, "This database has no records."));
        }
    });
    main.append(element("h1", {}, "Schema"));
    if (context.session.isAdministrator) main.append(...await ofContainer(context));
    main.append(await placeForm(context, open), list);
}
