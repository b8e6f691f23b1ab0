// Users and tokens.

import {
    asked, button, bytes, checkbox, choice, confirmed, element, labelled, newestOnly, number,
    onSubmit, rowButton, shown, table, tell, time, trying, userChoices,
} from "/console/elements.js";
import { personView } from "/console/person.js";
import { service } from "/console/service.js";

/** For a box of a limit: empty where there is none of the user's own, or none at all. */
function numberOf(limit) {
    return limit === undefined || limit === Number.MAX_SAFE_INTEGER ? "" : limit;
}

class People {
    constructor() {
        this.users = element("div", {});
        this.containers = element("div", {});
        this.tokens = element("div", {});
        this.issue = element("div", {});
        this.refreshing = newestOnly();
        this.choosing = newestOnly();
    }

    async refresh() {
        const [isNewest, isWanted] = [this.refreshing(), this.choosing()];
        const [users, tokens, containers, quotas] = await Promise.all([
            service.users(), service.tokens(), service.containers(), service.quotas(),
        ]);
        if (!isNewest()) return;
        this.quotas = new Map(quotas.map((quota) => [quota.user, quota]));
        this.names = new Map(users.map((user) => [user.userRecordName, user.label]));
        if (isWanted()) this.showUsers(users);
        this.showTokens(tokens);
        this.containers.replaceChildren(table("Containers", [
            { title: "Container", cell: (name) => element("code", {}, name) },
        ], containers, "There is no container."));
        this.issue.replaceChildren(this.issueForm(users, containers));
    }

    showUsers(users) {
        this.users.replaceChildren(table("Users", [
            {
                title: "Name", cell: (user) => button(user.label || "(no name)",
                    () => this.open(user)),
            },
            {
                title: "Record name",
                cell: (user) => element("code", {}, user.userRecordName),
            },
            {
                title: "Records", isNumber: true,
                cell: (user) => this.kept(user, "records", "recordsMax", number),
            },
            {
                title: "Bytes", isNumber: true,
                cell: (user) => this.kept(user, "bytes", "bytesMax", bytes),
            },
            { title: "", cell: (user) => rowButton("Quota",
                user.label || user.userRecordName, () => this.changeQuota(user)) },
        ], users, "There is no user."));
    }

    /** How much a user has, and may have where that was set. */
    kept(user, name, key, text) {
        const quota = this.quotas.get(user.userRecordName);
        if (!quota) return "";
        const most = quota[key];
        if (most === undefined) return text(quota[name]);
        const limit = most === Number.MAX_SAFE_INTEGER ? "any" : text(most);
        return `${text(quota[name])} of ${limit}`;
    }

    /** An empty field is what the service's own setting says. */
    changeQuota(user) {
        const quota = this.quotas.get(user.userRecordName) ?? {};
        const field = (name, title) => [
            labelled(title, element("input", {
                name, type: "number", min: "0", step: "1", value: numberOf(quota[name]),
            })),
            checkbox("No limit", `${name}Any`, quota[name] === Number.MAX_SAFE_INTEGER),
        ];
        asked(`What ${user.label || user.userRecordName} may keep`, [
            field("recordsMax", "Records"), field("bytesMax", "Bytes"),
            element("p", { class: "soft" }, "Empty: as the service is set."),
        ].flat(), "Keep", async (fields) => {
            const wish = {};
            for (const name of ["recordsMax", "bytesMax"]) {
                if (fields[`${name}Any`].checked) wish[name] = Number.MAX_SAFE_INTEGER;
                else if (fields[name].value !== "") wish[name] = Number(fields[name].value);
            }
            if (!Object.values(wish).every(Number.isSafeInteger)) {
                throw new Error("That is more than a browser counts exactly.");
            }
            await service.setQuota(user.userRecordName, wish);
            await this.refresh();
            tell("The quota is changed.");
        });
    }

    /** The user in the place of the list. */
    open(user) {
        const isWanted = this.choosing();
        return trying(async () => {
            const view = await personView(user, {
                back: () => this.refresh(), changed: () => this.refresh(),
            });
            // Another may have been opened since, whose password this one's form would set.
            if (!isWanted()) return;
            this.users.replaceChildren(view);
            view.querySelector("h2").focus();
        });
    }

    showTokens(tokens) {
        this.tokens.replaceChildren(table("Tokens", [
            { title: "Called", cell: (token) => token.label },
            { title: "Kind", cell: (token) => token.kind },
            {
                title: "For",
                cell: (token) => this.names.get(token.user) ?? token.user ?? token.container,
            },
            { title: "Made", cell: (token) => time(token.created) },
            { title: "Last used", cell: (token) => time(token.lastUsed) },
            { title: "Ends", cell: (token) => token.expires ? time(token.expires) : "" },
            {
                title: "",
                cell: (token) => token.revoked
                    ? element("span", { class: "soft" }, "revoked ", time(token.revoked))
                    : rowButton("Revoke", `${token.kind} ${token.label}`,
                        () => this.revoke(token), "bad"),
            },
        ], tokens, "There is no token."));
    }

    revoke(token) {
        return trying(async () => {
            const own = token.isOwn ? " You are signed in with it and will be signed out." : "";
            const question = `Make the ${token.kind} token “${token.label}” useless?${own}`;
            if (!await confirmed(question, "Revoke")) return;
            this.showTokens(await service.revokeToken(token.id));
            tell("The token is revoked.");
        });
    }

    issueForm(users, containers) {
        const administrator = "";
        const form = element("form", { class: "panel", "aria-label": "New token" },
            labelled("For", choice("user",
                userChoices(users).concat([[administrator, "an administrator"]]))),
            labelled("Container", choice("container", containers)),
            labelled("Called", element("input", { name: "label", required: true })),
            labelled("Days (0: no end)", element("input", {
                name: "days", type: "number", min: "0", max: "36500", step: "1",
                placeholder: "as set",
            })),
            element("button", { class: "main" }, "Make tokens"));
        onSubmit(form, async () => {
            const wish = Object.fromEntries(new FormData(form));
            if (wish.user === administrator) wish.user = wish.container = null;
            wish.days = wish.days === "" ? null : Number(wish.days);
            const made = await service.issueToken(wish);
            shown("New tokens", [
                ["App (ckAPIToken)", made.api], ["User (ckWebAuthToken)", made.user],
                ["Administrator", made.administrator],
            ].filter(([, text]) => text));
            await this.refresh();
        });
        return form;
    }
}

function addForm(title, name, work) {
    const form = element("form", { class: "panel", "aria-label": title },
        labelled(name, element("input", { name: "text", required: true })),
        element("button", {}, title));
    onSubmit(form, async () => {
        await work(new FormData(form).get("text"));
        form.reset();
    });
    return form;
}

export async function people(main) {
    const people = new People();
    main.append(element("h1", {}, "Users and tokens"),
        element("h2", {}, "Users"), people.users,
        addForm("Add user", "Name", async (label) => {
            await service.addUser(label);
            await people.refresh();
        }),
        element("h2", {}, "Containers"), people.containers,
        addForm("Add container", "Name, such as iCloud.org.example.notes", async (name) => {
            await service.addContainer(name);
            await people.refresh();
            tell(`The container ${name} is there.`);
        }),
        element("h2", {}, "Tokens"), people.tokens, people.issue);
    await trying(() => people.refresh());
}
