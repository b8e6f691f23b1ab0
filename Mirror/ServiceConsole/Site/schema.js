// What the records of a database are made of.

import { element, number, table, trying } from "/console/elements.js";
import { service } from "/console/service.js";
import { placeForm } from "/console/records.js";

export async function schema(main, context) {
    const list = element("div", {});
    const open = (place) => trying(async () => {
        const types = await service.schema(place);
        list.replaceChildren(...types.flatMap((type) => [
            element("h2", {}, type.name),
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
    main.append(element("h1", {}, "Schema"), await placeForm(context, open), list);
}
