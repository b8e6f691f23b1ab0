// One user: what is known, ways to sign in, and an end of all tokens.

import {
    button, checkbox, confirmed, element, labelled, onSubmit, tell, trying,
} from "/console/elements.js";
import { administration } from "/console/administration.js";

function profileForm(person, changed) {
    const field = (name, type = "text") =>
        element("input", { name, type, value: person[name] ?? "", autocomplete: "off" });
    const form = element("form", { "aria-label": "What is known" },
        labelled("Given name", field("givenName")), labelled("Family name", field("familyName")),
        labelled("E-mail address", field("emailAddress", "email")),
        checkbox("Others may find the user", "discoverable", person.discoverable),
        element("button", { class: "main" }, "Keep"));
    onSubmit(form, async () => {
        const fields = form.elements;
        // An empty text is none.
        changed(await administration.setProfile(person.userRecordName, {
            givenName: fields.givenName.value, familyName: fields.familyName.value,
            emailAddress: fields.emailAddress.value, discoverable: fields.discoverable.checked,
        }));
        tell("What is known of the user is changed.");
    });
    return form;
}

/** The password is sent and forgotten: the boxes are emptied whatever comes of it. */
function passwordForm(person, changed) {
    const secret = (name) => element("input", {
        name, type: "password", required: true, minlength: "8", autocomplete: "new-password",
    });
    const form = element("form", { "aria-label": "Password" },
        labelled("Signs in as", element("input", {
            name: "signInName", required: true, autocomplete: "off",
            value: person.signInName ?? person.label,
        })),
        labelled("New password", secret("password")), labelled("Once more", secret("again")),
        element("button", {}, person.signInName ? "Change password" : "Give password"));
    onSubmit(form, async () => {
        const { signInName, password, again } = form.elements;
        const [first, second] = [password.value, again.value];
        password.value = again.value = "";
        if (first !== second) throw new Error("The two passwords differ.");
        changed(await administration.setPassword(person.userRecordName, {
            password: first, name: signInName.value,
        }));
        tell(`The user signs in as ${signInName.value}; sessions of a former password ended.`);
    });
    return form;
}

/** The view of a user; `ways.back` closes it, `ways.changed` after a change of the list. */
export async function personView(user, ways) {
    const view = element("section", { class: "panel", "aria-label": "User" });
    const name = user.label || user.userRecordName;
    const ask = (question, title, work) => () => trying(async () => {
        if (await confirmed(question, title)) await work();
    });
    const endTokens = ask(
        `End all tokens of ${name}? Devices and sessions are signed out, and sync no more.`,
        "End all", async () => {
            const { revoked } = await administration.revokeTokens(user.userRecordName);
            await ways.changed();
            tell(`${revoked} tokens of ${name} ended.`);
        });
    const show = (person) => {
        const removePassword = ask(
            `Let ${name} sign in by password no more? Sessions that began with it end.`,
            "Take password", async () => {
                show(await administration.removePassword(user.userRecordName));
                tell(`${name} signs in by password no more.`);
            });
        const unlink = ask(
            `Forget who ${name} is at the provider? Sessions that began there end.`, "Forget",
            async () => {
                show(await administration.unlink(user.userRecordName));
                tell(`${name} is signed in by no provider now.`);
            });
        view.replaceChildren(
            element("h2", { tabindex: "-1" }, `${name} `,
                element("code", {}, user.userRecordName)),
            profileForm(person, show),
            element("h3", {}, "Password"),
            element("p", { class: "soft" }, person.signInName
                ? `Signs in at the console as ${person.signInName}.`
                : "Does not sign in by password."),
            passwordForm(person, show),
            element("div", { class: "actions" },
                person.signInName ? button("Take password", removePassword, "bad") : null,
                button("Forget at the provider", unlink, "bad"),
                button("End all tokens", endTokens, "bad"), button("Back", ways.back)));
    };
    show(await administration.user(user.userRecordName));
    return view;
}
