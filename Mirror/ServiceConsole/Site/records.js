// Zones and records of one database: query, look, and a way to edit.

import {
    button, choice, closedByWayBack, counted, element, labelled, newestOnly, table, time, trying,
    userChoices,
} from "/console/elements.js";
import { placeText, service } from "/console/service.js";
import { recordView } from "/console/record.js";
import { typedValue, valueText } from "/console/values.js";

const pageSize = 50;

/**
 * The form that names a database. Calls `chosen(place, isNewest)` when it is sent; what is asked
 * for then is shown only while `isNewest()`.
 */
export async function placeForm(context, chosen) {
    const remembered = context.place;
    const containers = await trying(() => service.containers()) ?? [];
    const form = element("form", { class: "panel", "aria-label": "Database" },
        labelled("Container", choice("container", containers, remembered.container)),
        labelled("Environment",
            choice("environment", ["development", "production"], remembered.environment)),
        labelled("Database", choice("database", ["private", "public"], remembered.database)));
    let users = [];
    if (context.session.isAdministrator) {
        users = await trying(() => service.users()) ?? [];
        form.append(labelled("User", choice("owner", userChoices(users), remembered.owner)));
    }
    form.append(element("button", { class: "main" }, "Open"));
    const choose = newestOnly();
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const place = Object.fromEntries(new FormData(form));
        const owner = users.find((user) => user.userRecordName === place.owner);
        place.ownerName = owner?.label || place.owner;
        context.place = place;
        chosen(place, choose());
    });
    return form;
}

/** Zones of a database as names. */
export async function zoneNames(place) {
    const answer = await service.operation(place, "zones/list", {});
    return (answer.zones ?? []).map((zone) => zone.zoneID.zoneName);
}

const comparators = [
    ["EQUALS", "is"], ["NOT_EQUALS", "is not"], ["LESS_THAN", "is less than"],
    ["GREATER_THAN", "is greater than"], ["BEGINS_WITH", "begins with"],
];

class Browser {
    /** `isNewest` says whether the database is still the one that was opened last. */
    constructor(context, place, types, zones, list, isNewest) {
        Object.assign(this, { context, place, types, zones, list, isNewest });
        this.ask = newestOnly();
        this.results = element("div", { "aria-live": "polite" });
    }

    form() {
        const typeNames = this.types.map((type) => type.name);
        this.fields = element("select", { name: "field" });
        const types = choice("type", typeNames, typeNames[0], () => this.showFields(types.value));
        this.showFields(typeNames[0]);
        const form = element("form", { class: "panel", "aria-label": "Query" },
            labelled("Zone", choice("zone", this.zones, this.zones.at(-1))),
            labelled("Record type", types), labelled("Field", this.fields),
            labelled("Comparison", choice("comparator", comparators)),
            labelled("Value", element("input", { name: "value" })),
            element("button", { class: "main" }, "Find"));
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.find(Object.fromEntries(new FormData(form)));
        });
        return form;
    }

    showFields(typeName) {
        const type = this.types.find((type) => type.name === typeName);
        this.fields.replaceChildren(element("option", { value: "" }, "any"),
            ...(type?.fields ?? []).map((field) =>
                element("option", { value: field.name }, `${field.name} (${field.type})`)));
    }

    /** What is asked. Throws for a text that is no value of its field. */
    question(wish, marker) {
        const query = { recordType: wish.type };
        if (wish.field) {
            const type = this.types.find((type) => type.name === wish.type);
            const field = type.fields.find((field) => field.name === wish.field);
            query.filterBy = [{
                fieldName: wish.field, comparator: wish.comparator,
                fieldValue: typedValue(wish.value, field.type),
            }];
        }
        return {
            zoneID: { zoneName: wish.zone }, query, resultsLimit: pageSize,
            continuationMarker: marker, numbersAsStrings: true,
        };
    }

    async find(wish, marker, before = []) {
        const isNewest = this.ask();
        // A refusal leaves nothing that looks like its answer.
        if (!marker) this.results.replaceChildren();
        const answer = await trying(() => service.operation(
            this.place, "records/query", this.question(wish, marker)));
        if (!answer || !isNewest()) return;
        const records = before.concat(answer.records);
        this.show(records, wish);
        // Who pressed "More" goes on where the new ones begin.
        if (marker) this.names.get(records[before.length])?.focus();
        if (answer.continuationMarker) {
            this.results.append(element("div", { class: "actions" }, button("More",
                () => this.find(wish, answer.continuationMarker, records))));
        }
    }

    show(records, wish) {
        this.names = new Map(records.map((record) => {
            const name = button(record.recordName, () => this.open(record, wish, name));
            return [record, name];
        }));
        this.heading = element("h2", { tabindex: "-1" }, counted(records.length, "record"));
        this.results.replaceChildren(
            this.heading,
            table("Records", [
                { title: "Name", cell: (record) => this.names.get(record) },
                { title: "Fields", cell: (record) => preview(record) },
                { title: "Changed", cell: (record) => time(record.modified?.timestamp) },
            ], records, "No record is like that."));
    }

    /** Shows a record; its way back leads to `opener`. */
    open(record, wish, opener) {
        const back = closedByWayBack(this.context, () => {
            if (!this.isNewest()) return;
            this.list.replaceChildren(this.queryForm, this.results);
            opener.focus();
        });
        this.list.replaceChildren(recordView(this.place, wish.zone, record, {
            back, changed: () => {
                if (!this.isNewest()) return;
                back();
                this.find(wish).then(() => this.heading.focus());
            },
        }));
        this.list.querySelector("h2")?.focus();
    }

    begin() {
        this.queryForm = element("div", {},
            element("p", { class: "soft" }, `In ${placeText(this.place)}.`), this.form());
        this.list.replaceChildren(this.queryForm, this.results);
    }
}

function preview(record) {
    return Object.entries(record.fields ?? {}).slice(0, 4)
        .map(([name, field]) => `${name}: ${valueText(field).slice(0, 60)}`).join(" · ");
}

export async function records(main, context) {
    const list = element("div", {});
    const open = (place, isNewest) => trying(async () => {
        list.replaceChildren();
        const [types, zones] = await Promise.all([service.schema(place), zoneNames(place)]);
        if (!isNewest()) return;
        if (types.length === 0 || zones.length === 0) {
            list.replaceChildren(element("p", { class: "soft" }, "This database has no records."));
            return;
        }
        new Browser(context, place, types, zones, list, isNewest).begin();
    });
    main.append(element("h1", {}, "Records"), await placeForm(context, open), list);
}
