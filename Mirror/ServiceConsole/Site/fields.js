// Fields of a container's schema: retired ones, and those that are unique together.

import {
    asked, choice, confirmed, counted, element, labelled, onSubmit, rowButton, table, tell, trying,
} from "/console/elements.js";
import { administration } from "/console/administration.js";

class Fields {
    constructor(place, changed) {
        Object.assign(this, { ...place, changed });
        this.isDevelopment = place.environment === "development";
    }

    retire(type, field) {
        const called = `${type.name}.${field.name}`;
        asked(`Retire ${called}`, [
            element("p", {}, "Clients of this version and later do not see it; older ones go on "
                + "with it. No record is changed."),
            labelled("From version", element("input", {
                name: "from", required: true, pattern: "[0-9]+(\\.[0-9]+)*", placeholder: "2.10",
                title: "Numbers with dots between, such as 2.10", autocomplete: "off",
            })),
        ], "Retire", async (fields) => {
            const version = fields.from.value;
            await administration.retire(this.container, type.name, field.name, version);
            await this.changed();
            tell(`Clients of ${version} and later do not see ${called} in development; deploy it `
                + "to bring that to production.");
        });
    }

    keep(type, field) {
        return trying(async () => {
            await administration.keep(this.container, this.environment, type.name, field.name);
            await this.changed();
            tell(`All clients see ${type.name}.${field.name} in ${this.environment} again.`);
        });
    }

    remove(type, field) {
        return trying(async () => {
            const called = `${type.name}.${field.name}`;
            const { container, environment } = this;
            const held = await administration.holders(
                container, environment, type.name, field.name);
            const question = `Take ${called} out of ${environment} of ${container}, and out of `
                + `${counted(held.records, "record")} of ${counted(held.users, "user")}? Nobody `
                + "brings it back.";
            if (!await confirmed(question, "Take out")) return;
            const gone = await administration.removeField(
                container, environment, type.name, field.name);
            await this.changed();
            tell(`${called} is taken out of ${counted(gone.records, "record")}.`);
        });
    }

    deeds(type, field) {
        const called = `${type.name}.${field.name}`;
        if (field.retiredFrom) {
            return element("div", { class: "actions" },
                rowButton("Keep", called, () => this.keep(type, field)),
                rowButton("Take out …", called, () => this.remove(type, field), "bad"));
        }
        return this.isDevelopment
            ? rowButton("Retire …", called, () => this.retire(type, field)) : null;
    }

    typePart(type) {
        return [element("h4", {}, type.name), table(type.name, [
            { title: "Field", cell: (field) => element("code", {}, field.name) },
            { title: "Type", cell: (field) => field.type },
            { title: "Indexes", cell: (field) => field.indexes.join(", ").toLowerCase() },
            {
                title: "Retired",
                cell: (field) => field.retiredFrom ? `from ${field.retiredFrom}` : "",
            },
            { title: "", cell: (field) => this.deeds(type, field) },
        ], type.fields, "It has no fields.")];
    }

    free(key) {
        return trying(async () => {
            const called = `${key.recordType} (${key.fields.join(", ")})`;
            const question = `Let records of ${called} be alike in ${this.environment} of `
                + `${this.container}?`;
            if (!await confirmed(question, "Let be alike")) return;
            await administration.undeclareUnique(
                this.container, this.environment, key.recordType, key.fields);
            await this.changed();
            tell(`${called} need not be unique in ${this.environment} any more.`);
        });
    }

    uniqueForm(types) {
        const form = element("form", { class: "panel", "aria-label": "Unique fields" },
            labelled("Record type", choice("recordType", types.map((type) => type.name))),
            labelled("Fields, with commas", element("input", {
                name: "fields", required: true, autocomplete: "off",
            })),
            element("button", {}, "Make unique"));
        onSubmit(form, async () => {
            const wish = form.elements;
            const names = wish.fields.value.split(",").map((name) => name.trim()).filter(Boolean);
            await administration.declareUnique(this.container, wish.recordType.value, names);
            await this.changed();
            tell(`No two records of a zone have ${names.join(", ")} alike in development; `
                + "deploy it to bring that to production.");
        });
        return form;
    }

    keysPart(types) {
        const keys = types.flatMap((type) =>
            type.keys.map((fields) => ({ recordType: type.name, fields })));
        return [element("h3", {}, "Unique in each zone"), table("Unique fields", [
            { title: "Record type", cell: (key) => element("code", {}, key.recordType) },
            { title: "Fields", cell: (key) => element("code", {}, key.fields.join(", ")) },
            {
                title: "", cell: (key) => rowButton("Let be alike",
                    `${key.recordType} (${key.fields.join(", ")})`, () => this.free(key), "bad"),
            },
        ], keys, `No fields have to be unique in ${this.environment}.`),
        this.isDevelopment && types.length > 0 ? this.uniqueForm(types) : null];
    }
}

/** The fields of an environment, with what is done to them; `changed` shows them anew. */
export function fieldsOf(place, types, changed) {
    const fields = new Fields(place, changed);
    const none = types.length === 0
        ? element("p", { class: "soft" }, `${place.environment} has no record types.`) : null;
    return [element("h3", {}, `Fields in ${place.environment}`), none,
        ...types.flatMap((type) => fields.typePart(type)), ...fields.keysPart(types)]
        .filter((child) => child !== null);
}
