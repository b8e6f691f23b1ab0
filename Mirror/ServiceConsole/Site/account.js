// A user's own devices.

import { button, confirmed, element, table, tell, time, trying } from "/console/elements.js";
import { service } from "/console/service.js";

export async function account(main) {
    const list = element("div", {});
    const show = (tokens) => {
        const good = tokens.filter((token) => !token.revoked);
        list.replaceChildren(table("Devices", [
            {
                title: "Device",
                cell: (token) => token.label + (token.isOwn ? " (this page’s token)" : ""),
            },
            { title: "Since", cell: (token) => time(token.created) },
            { title: "Last seen", cell: (token) => time(token.lastUsed) },
            { title: "", cell: (token) => button("Sign out", () => signOut(token), "bad") },
        ], good, "No device is signed in."));
    };
    const signOut = (token) => trying(async () => {
        if (!await confirmed(`Sign out “${token.label}”? It syncs no more.`, "Sign out")) return;
        show(await service.revokeToken(token.id));
        tell("The device is signed out.");
    });
    main.append(element("h1", {}, "Your devices"), list);
    const tokens = await trying(() => service.tokens());
    if (tokens) show(tokens);
}
