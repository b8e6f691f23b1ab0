// What administrators did.

import { element, table, time, trying } from "/console/elements.js";
import { administration } from "/console/administration.js";

/** `schemaDeployed` as `schema deployed`. */
function words(name) {
    return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function details(act) {
    return Object.entries(act.details ?? {}).sort()
        .map(([name, text]) => `${words(name)}: ${text}`).join(", ");
}

export async function acts(main) {
    const list = element("div", {});
    main.append(element("h1", {}, "Audit"), list);
    await trying(async () => {
        const acts = await administration.acts();
        list.replaceChildren(table("Acts", [
            { title: "When", cell: (act) => time(act.at) },
            { title: "Who", cell: (act) => act.by },
            { title: "What", cell: (act) => words(act.act) },
            { title: "To", cell: (act) => element("code", {}, act.subject) },
            { title: "More", cell: details },
        ], acts.reverse(), "Nothing was noted."), element("p", { class: "soft" },
            "The last 500; the log itself is audit.jsonl in the service’s data folder."));
    });
}
