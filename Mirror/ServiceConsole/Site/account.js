// A user's own devices.

import {
    confirmed, element, labelled, onSubmit, rowButton, table, tell, time, trying,
} from "/console/elements.js";
import { service } from "/console/service.js";

function secretField(name, autocomplete) {
    return element("input", { name, type: "password", required: true, autocomplete });
}

/** Where the password changes, all sessions that began with the former end: also this one. */
function passwordForm() {
    const former = secretField("former", "current-password");
    const next = secretField("next", "new-password");
    next.minLength = 8;
    const form = element("form", { class: "panel", "aria-label": "Password" },
        element("h2", {}, "Password"), labelled("Present password", former),
        labelled("New password", next), element("button", {}, "Change and sign in anew"));
    onSubmit(form, async () => {
        await service.changePassword(former.value, next.value);
        window.dispatchEvent(new Event("signed-out"));
        tell("The password is changed; sign in with it.");
    });
    return form;
}

export async function account(main, context) {
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
            { title: "Ends", cell: (token) => token.expires ? time(token.expires) : "" },
            {
                title: "",
                cell: (token) =>
                    rowButton("Sign out", token.label, () => signOut(token), "bad"),
            },
        ], good, "No device is signed in."));
    };
    const signOut = (token) => trying(async () => {
        if (!await confirmed(`Sign out “${token.label}”? It syncs no more.`, "Sign out")) return;
        show(await service.revokeToken(token.id));
        tell("The device is signed out.");
    });
    main.append(element("h1", {}, "Your devices"), list);
    if (context.session.hasPassword) main.append(passwordForm());
    const tokens = await trying(() => service.tokens());
    if (tokens) show(tokens);
}
