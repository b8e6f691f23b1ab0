// Keys with which servers sign their requests.

import {
    choice, confirmed, element, labelled, onSubmit, rowButton, table, tell, time, trying,
} from "/console/elements.js";
import { administration } from "/console/administration.js";
import { service } from "/console/service.js";

const makingOne = "openssl ecparam -name prime256v1 -genkey -noout -out key.pem\n"
    + "openssl ec -in key.pem -pubout -out public.pem";

class Keys {
    constructor() {
        this.list = element("div", {});
    }

    show(keys) {
        this.list.replaceChildren(table("Keys", [
            { title: "Called", cell: (key) => key.label },
            { title: "Key ID", cell: (key) => element("code", {}, key.id) },
            { title: "Container", cell: (key) => key.container },
            { title: "Environment", cell: (key) => key.environment },
            { title: "Writes as", cell: (key) => element("code", {}, key.user) },
            { title: "Made", cell: (key) => time(key.created) },
            { title: "Last used", cell: (key) => time(key.lastUsed) },
            {
                title: "",
                cell: (key) => key.revoked
                    ? element("span", { class: "soft" }, "ended ", time(key.revoked))
                    : rowButton("End", key.label, () => this.end(key), "bad"),
            },
        ], keys, "No server has a key."));
    }

    end(key) {
        return trying(async () => {
            const question = `End the key “${key.label}” of ${key.container}, ${key.environment}? `
                + "What was signed with it stays; nothing new is taken.";
            if (!await confirmed(question, "End")) return;
            this.show(await administration.revokeKey(key.id));
            tell(`The key “${key.label}” is good for nothing any more.`);
        });
    }

    form(containers) {
        const form = element("form", { class: "panel", "aria-label": "New key" },
            labelled("Called", element("input", { name: "label", required: true })),
            labelled("Container", choice("container", containers)),
            // Nothing is good for production unless somebody says so.
            labelled("Environment", choice("environment", ["development", "production"])),
            labelled("Public key (PEM, P-256)", element("textarea", {
                name: "publicKey", required: true, rows: "5", spellcheck: "false",
                placeholder: "-----BEGIN PUBLIC KEY-----",
            })),
            element("button", { class: "main" }, "Add key"));
        onSubmit(form, async () => {
            const wish = Object.fromEntries(new FormData(form));
            if (wish.publicKey.includes("PRIVATE KEY")) {
                throw new Error("That is the private half; it stays with the server’s program. "
                    + "Paste the public one.");
            }
            const made = await administration.addKey(wish);
            form.reset();
            this.show(await administration.keys());
            tell(`The key “${made.label}” is added; its key ID stands in the list.`);
        });
        return form;
    }
}

export async function keys(main) {
    const keys = new Keys();
    main.append(element("h1", {}, "Keys"), element("p", { class: "soft" },
        "A server signs its requests to the public database with a key of its own. The service has "
        + "the public half only."), keys.list);
    await trying(async () => {
        const [known, containers] = await Promise.all([
            administration.keys(), service.containers(),
        ]);
        keys.show(known);
        main.append(element("h2", {}, "New key"), keys.form(containers), element("details", {},
            element("summary", {}, "How a key is made"), element("pre", {}, makingOne)));
    });
}
