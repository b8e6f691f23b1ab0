// What roles may do in the public database of a container, and who has them.

import {
    checkbox, choice, confirmed, element, labelled, newestOnly, onSubmit, rowButton, table, tell,
    trying, userChoices,
} from "/console/elements.js";
import { administration } from "/console/administration.js";
import { service } from "/console/service.js";

const standardRoles = ["_world", "_icloud", "_creator"];

function rightsText(grant) {
    const words = [grant.creates && "create", grant.reads && "read", grant.writes && "write"]
        .filter(Boolean);
    return words.length ? words.join(", ") : "nothing";
}

function suggestions(id, words) {
    return element("datalist", { id }, words.map((value) => element("option", { value })));
}

class Roles {
    constructor(container, users, recordTypes) {
        Object.assign(this, { container, users, recordTypes });
        this.names = new Map(users.map((user) => [user.userRecordName, user.label]));
        this.grants = element("div", {});
        this.members = element("div", {});
    }

    show(roles) {
        this.grants.replaceChildren(table("Grants", [
            { title: "Record type", cell: (grant) => element("code", {}, grant.recordType) },
            { title: "Role", cell: (grant) => element("code", {}, grant.role) },
            { title: "May", cell: rightsText },
            { title: "", cell: (grant) => rowButton("Forget all of the type", grant.recordType,
                () => this.forget(grant.recordType), "bad") },
        ], roles.grants, "Nothing is granted; the service’s own rules hold."));
        this.members.replaceChildren(table("Members", [
            { title: "Role", cell: (member) => element("code", {}, member.role) },
            { title: "User", cell: (member) => this.names.get(member.user) || member.user },
            {
                title: "", cell: (member) => rowButton("Take",
                    `${member.role} from ${this.names.get(member.user) || member.user}`,
                    () => this.take(member), "bad"),
            },
        ], roles.members, "Nobody has a role of this container."));
        const own = roles.grants.concat(roles.members).map((each) => each.role);
        this.roleNames.replaceChildren(...[...new Set(standardRoles.concat(own))]
            .map((value) => element("option", { value })));
    }

    forget(recordType) {
        return trying(async () => {
            const question = `Forget all that roles may do with ${recordType} in ${this.container}? `
                + "The service’s own rules hold for it then.";
            if (!await confirmed(question, "Forget")) return;
            this.show(await administration.removeGrants(this.container, recordType));
            tell(`For ${recordType} the service’s own rules hold.`);
        });
    }

    take(member) {
        return trying(async () => {
            const name = this.names.get(member.user) || member.user;
            if (!await confirmed(`Take the role ${member.role} from ${name}?`, "Take")) return;
            this.show(await administration.takeRole(this.container, member.role, member.user));
            tell(`${name} does not have the role ${member.role} any more.`);
        });
    }

    send(form, work) {
        onSubmit(form, () => work(form.elements));
        return form;
    }

    forms() {
        this.roleNames = suggestions("role-names", standardRoles);
        const role = () => element("input", {
            name: "role", required: true, list: "role-names", autocomplete: "off",
        });
        const grant = this.send(element("form", { class: "panel", "aria-label": "Grant" },
            labelled("Record type", element("input", {
                name: "recordType", required: true, list: "type-names", autocomplete: "off",
            })),
            labelled("Role", role()),
            element("fieldset", {}, element("legend", {}, "May"), checkbox("create", "creates"),
                checkbox("read", "reads", true), checkbox("write", "writes")),
            element("button", {}, "Grant")), async (fields) => {
            this.show(await administration.grant(this.container, {
                recordType: fields.recordType.value, role: fields.role.value,
                creates: fields.creates.checked, reads: fields.reads.checked,
                writes: fields.writes.checked,
            }));
            tell("It is granted.");
        });
        const give = this.send(element("form", { class: "panel", "aria-label": "Give a role" },
            labelled("Role", role()), labelled("User", choice("user", userChoices(this.users))),
            element("button", {}, "Give")), async (fields) => {
            this.show(await administration.giveRole(this.container, {
                role: fields.role.value, user: fields.user.value,
            }));
            tell("The role is given.");
        });
        return { grant, give };
    }

    parts() {
        const { grant, give } = this.forms();
        return [this.roleNames, suggestions("type-names", this.recordTypes),
            element("h2", {}, "Grants"), this.grants, grant,
            element("h2", {}, "Members"), this.members, give];
    }
}

export async function roles(main, context) {
    const body = element("div", {});
    const containers = await trying(() => service.containers()) ?? [];
    const choose = newestOnly();
    const open = (container) => trying(async () => {
        const isNewest = choose();
        body.replaceChildren();
        const [known, users, schema] = await Promise.all([
            administration.roles(container), service.users(),
            administration.schema(container, "development"),
        ]);
        if (!isNewest()) return;
        const roles = new Roles(container, users, schema.recordTypes.map((type) => type.name));
        body.replaceChildren(element("p", { class: "soft" }, `Of ${container}.`), ...roles.parts());
        roles.show(known);
    });
    const container = choice("container", containers, context.place.container);
    const form = element("form", { class: "panel", "aria-label": "Container" },
        labelled("Container", container), element("button", { class: "main" }, "Open"));
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        context.place = { ...context.place, container: container.value };
        open(container.value);
    });
    main.append(element("h1", {}, "Roles"), element("p", { class: "soft" },
        "What roles may do with records of the public database, and who has them."), form, body);
}
