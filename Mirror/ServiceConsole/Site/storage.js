// Backups, and what a bucket of assets has too much and too little.

import {
    button, bytes, confirmed, element, number, rowButton, table, tell, time, trying,
} from "/console/elements.js";
import { administration } from "/console/administration.js";

const lookAgainMilliseconds = 1_000;

/** What is known of a backup, in words. */
function stateOf(backup) {
    if (backup.isAtWork) return "at work …";
    if (backup.failure) return element("span", { class: "bad" }, backup.failure);
    if (!backup.damage) return element("span", { class: "soft" }, "not checked since the start");
    if (backup.damage.length === 0) return "sound";
    return element("ul", { class: "bad" }, backup.damage.map((line) => element("li", {}, line)));
}

function lackOf(backup) {
    if (backup.lacking === undefined) return element("span", { class: "soft" }, "not known");
    if (backup.lacking.length === 0) return "nothing";
    return element("span", { class: "bad" }, backup.lacking.join(", "));
}

class Backups {
    constructor(context) {
        this.context = context;
        this.list = element("div", { "aria-live": "polite" });
        context.onLeave(() => clearTimeout(this.timer));
    }

    show(backups) {
        if (!this.context.isShown()) return;
        const isAtWork = backups.some((backup) => backup.isAtWork);
        this.list.replaceChildren(table("Backups", [
            { title: "Made", cell: (backup) => backup.made ? time(backup.made) : "" },
            { title: "Name", cell: (backup) => element("code", {}, backup.name) },
            {
                title: "Size without assets", isNumber: true,
                cell: (backup) => backup.bytes === undefined ? "" : bytes(backup.bytes),
            },
            { title: "Lacks", cell: lackOf },
            { title: "State", cell: stateOf },
            {
                title: "",
                cell: (backup) => {
                    if (backup.bytes === undefined) return "";
                    const check = rowButton("Check", backup.name, () => this.check(backup.name));
                    check.disabled = isAtWork;
                    return check;
                },
            },
        ], [...backups].reverse(), "No backup was asked for here."));
        clearTimeout(this.timer);
        if (isAtWork) this.timer = setTimeout(() => this.lookAgain(), lookAgainMilliseconds);
    }

    /** While one is at work. */
    async lookAgain() {
        const backups = await trying(() => administration.backups());
        if (backups && this.context.isShown()) this.follow(backups);
    }

    /** Shows what there is, and says `begun`, or what came of it: small ones are done by then. */
    follow(backups, begun) {
        this.show(backups);
        if (backups.some((backup) => backup.isAtWork)) return tell(begun ?? "");
        const last = backups.find((backup) => backup.name === this.asked);
        if (!last) return undefined;
        const isBad = Boolean(last.failure) || last.damage?.length > 0 || last.lacking?.length > 0;
        return tell(isBad ? `${last.name} is not whole; see its line.`
            : `${last.name} is ${last.damage ? "sound" : "made"}.`, isBad);
    }

    begin() {
        return trying(async () => {
            const before = await administration.backups();
            const after = await administration.backUp();
            const known = new Set(before.map((backup) => backup.name));
            this.asked = after.find((backup) => !known.has(backup.name))?.name;
            this.follow(after, "The backup is begun.");
        });
    }

    check(name) {
        return trying(async () => {
            this.asked = name;
            const backups = await administration.checkBackup(name);
            this.follow(backups, `${name} is looked through as a restore would.`);
        });
    }
}

function findings(caption, found, count, emptyText) {
    const more = count > found.length
        ? element("p", { class: "soft" }, `${number(count - found.length)} more are not shown.`)
        : null;
    return [element("h3", {}, `${caption}: ${number(count)}`), table(caption, [
        { title: "Object", cell: (object) => element("code", {}, object.name) },
        { title: "Size", isNumber: true, cell: (object) => bytes(object.bytes) },
        { title: "Written", cell: (object) => object.modified ? time(object.modified) : "" },
    ], found, emptyText), more];
}

function objectsReport(report, remove) {
    return [
        element("p", {}, `${number(report.objects)} objects; ${number(report.young)} that nothing `
            + "names are younger than a day and left alone."),
        ...findings("Named by nothing", report.orphans, report.orphanCount,
            "Every object that is a day old is named by a record."),
        report.orphanCount > 0 ? element("div", { class: "actions" },
            button("Remove what nothing names", remove, "bad")) : null,
        ...findings("Missing", report.missing, report.missingCount,
            "Every object that records name is there."),
    ].filter((child) => child !== null);
}

function bucket(context) {
    const place = element("div", { "aria-live": "polite" });
    const look = () => trying(async () => {
        tell("The bucket is looked through …");
        const report = await administration.objects();
        if (!context.isShown()) return;
        place.replaceChildren(...objectsReport(report, () => remove(report)));
        tell("");
    });
    const remove = (report) => trying(async () => {
        const question = `Remove ${number(report.orphanCount)} objects `
            + `(${bytes(report.orphanBytes)}) from the bucket? Nobody brings them back, and another `
            + "service’s records may name them.";
        if (!await confirmed(question, "Remove")) return;
        const { removed } = await administration.removeObjects();
        const after = await administration.objects();
        if (!context.isShown()) return;
        place.replaceChildren(...objectsReport(after, () => remove(after)));
        tell(`${number(removed)} objects are removed.`);
    });
    return [element("h2", {}, "Assets in a bucket"), element("p", { class: "soft" },
        "Where assets are in a bucket, it is compared with what records name; those in a folder the "
        + "service looks through itself, each day."),
    element("div", { class: "actions" }, button("Look through the bucket", look)), place];
}

/** What makes a backup where the records are: a button, or a sentence where others do it. */
function wayToBackUp(storage, begin) {
    if (storage === "files") {
        return [element("div", { class: "actions" }, button("Back up now", begin, "main"))];
    }
    if (storage === "memory") {
        return [element("p", {}, "The records are in memory and end with the service; there is "
            + "nothing to back up.")];
    }
    return [element("p", {}, "The records are in PostgreSQL, which has tools of its own: ",
        element("code", {}, "pg_dump"), " copies them, ", element("code", {}, "pg_restore"),
        " brings them back with the services stopped; then copy the folder of assets.")];
}

export async function storage(main, context) {
    const backups = new Backups(context);
    const inFiles = context.session.storage === "files";
    main.append(element("h1", {}, "Storage"), element("h2", {}, "Backups"),
        ...wayToBackUp(context.session.storage, () => backups.begin()));
    if (inFiles) {
        main.append(backups.list, element("p", { class: "soft" },
            "A restore puts files in the place of the running service’s, so it is a command’s work: "
            + "stop the service, then ",
            element("code", {}, "diptych service restore DIR/backups/NAME --data DIR"),
            ", where DIR is the service’s data folder."));
    }
    main.append(...bucket(context));
    if (inFiles) await trying(async () => backups.show(await administration.backups()));
}
