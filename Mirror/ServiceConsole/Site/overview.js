// How the service is, and what it holds.

import { bytes, duration, element, number, table, time, trying } from "/console/elements.js";
import { hourChart } from "/console/charts.js";
import { service } from "/console/service.js";

const refreshMilliseconds = 10_000;

function tile(title, value) {
    return element("div", {}, element("dt", {}, title), element("dd", {}, value));
}

function drawn(status) {
    const minutes = status.hour;
    const mean = minutes.map((minute) =>
        minute.requests > 0 ? minute.millisecondsTotal / minute.requests : 0);
    const spellTime = (value) => `${value.toFixed(1)} ms`;
    return [
        element("dl", { class: "tiles" },
            tile("Runs for", duration(status.now - status.started)),
            tile("Requests since the start", number(status.requests)),
            tile("Connections since the start", number(status.connections)),
            tile("Waiting for changes", number(status.heldRequests))),
        element("div", { class: "charts" },
            hourChart("Requests a minute", minutes.map((minute) => minute.requests), number),
            hourChart("Mean time of an answer", mean, spellTime),
            hourChart("Longest answer", minutes.map((minute) => minute.millisecondsMax), spellTime),
            hourChart("Refused", minutes.map((minute) => minute.refused), number),
            hourChart("Failed", minutes.map((minute) => minute.failed), number),
            hourChart("Bytes sent", minutes.map((minute) => minute.bytes), bytes)),
        element("h2", {}, "Containers"),
        table("Containers", [
            { title: "Container", cell: (row) => row.container },
            { title: "Environment", cell: (row) => row.environment },
            { title: "Users", isNumber: true, cell: (row) => number(row.users) },
            { title: "Zones", isNumber: true, cell: (row) => number(row.zones) },
            { title: "Records", isNumber: true, cell: (row) => number(row.records) },
            { title: "Deletions kept", isNumber: true, cell: (row) => number(row.deletions) },
            { title: "Size", isNumber: true, cell: (row) => bytes(row.bytes) },
        ], status.usage, "Nobody has written anything yet."),
        element("p", { class: "soft" }, "As of ", time(status.now),
            "; containers are counted once a minute."),
    ];
}

export async function overview(main, context) {
    const place = element("div", {});
    main.append(element("h1", {}, "Overview"), place);
    const show = async () => {
        const status = await trying(() => service.status());
        if (status && context.isShown()) place.replaceChildren(...drawn(status));
    };
    await show();
    // Who left meanwhile has left before there was anything to stop.
    if (!context.isShown()) return;
    const timer = setInterval(show, refreshMilliseconds);
    context.onLeave(() => clearInterval(timer));
}
