// The frame of the page: who is signed in, and which view is shown.

import { element, labelled, onSubmit, tell, trying } from "/console/elements.js";
import { service } from "/console/service.js";
import { account } from "/console/account.js";
import { acts } from "/console/acts.js";
import { changes } from "/console/changes.js";
import { device } from "/console/device.js";
import { keys } from "/console/keys.js";
import { overview } from "/console/overview.js";
import { people } from "/console/people.js";
import { records } from "/console/records.js";
import { roles } from "/console/roles.js";
import { schema } from "/console/schema.js";
import { shares } from "/console/shares.js";
import { storage } from "/console/storage.js";

const views = {
    overview: { title: "Overview", show: overview, isForAdministrators: true },
    devices: { title: "Devices", show: account, isForUsers: true },
    records: { title: "Records", show: records },
    changes: { title: "Changes", show: changes },
    shares: { title: "Shares", show: shares },
    schema: { title: "Schema", show: schema },
    device: { title: "Let a device in", show: device },
    people: { title: "Users and tokens", show: people, isForAdministrators: true },
    keys: { title: "Keys", show: keys, isForAdministrators: true },
    roles: { title: "Roles", show: roles, isForAdministrators: true },
    storage: { title: "Storage", show: storage, isForAdministrators: true },
    audit: { title: "Audit", show: acts, isForAdministrators: true },
};

const main = document.getElementById("main");
const frame = document.getElementById("frame");
let session;
let leaving = [];
let shownView = 0;
/** The database that was looked at last, for the next view. */
let place = {};

function mayShow(view) {
    return session.isAdministrator ? !view.isForUsers : !view.isForAdministrators;
}

function leave() {
    for (const work of leaving) work();
    leaving = [];
}

function context() {
    shownView += 1;
    const own = shownView;
    return {
        session,
        get place() { return place; },
        set place(chosen) { place = chosen; },
        isShown: () => own === shownView,
        onLeave: (work) => leaving.push(work),
    };
}

async function showView() {
    if (!session) return;
    // The link that skips to the content is no view.
    if (location.hash === "#main") return;
    const possible = Object.keys(views).filter((name) => mayShow(views[name]));
    const wanted = location.hash.replace(/^#\//, "");
    const name = possible.includes(wanted) ? wanted : possible[0];
    leave();
    tell("");
    document.getElementById("sections").replaceChildren(element("ul", {}, possible.map((each) =>
        element("li", {}, element("a", {
            href: `#/${each}`, "aria-current": each === name ? "page" : undefined,
        }, views[each].title)))));
    document.title = `${views[name].title} – Record service`;
    const body = element("div", {});
    main.replaceChildren(body);
    main.focus();
    await views[name].show(body, context());
}

function showSignIn() {
    leave();
    session = undefined;
    shownView += 1;
    frame.hidden = true;
    document.title = "Sign in – Record service";
    const token = element("input", {
        name: "token", type: "password", required: true, autocomplete: "off",
    });
    const form = element("form", { class: "panel sign-in", "aria-label": "Sign in by token" },
        element("h2", {}, "By token"), labelled("Token", token),
        element("button", { class: "main" }, "Sign in"),
        element("p", { class: "soft" },
            "An administrator’s token is made by ",
            element("code", {}, "diptych service tokens --administrator NAME --token-file FILE"),
            "; a user’s is the one of a device."));
    onSubmit(form, async () => {
        const found = await service.signIn(token.value.trim());
        token.value = "";
        begin(found);
    });
    const provider = element("div", {});
    main.replaceChildren(
        element("h1", {}, "Record service"), provider, passwordForm(), form);
    main.querySelector("input").focus();
    service.ways().then((ways) => {
        if (!ways.provider) return;
        provider.append(element("p", { class: "panel sign-in" },
            element("a", { class: "main", href: "/console/sign-in" },
                `Sign in by ${ways.provider}`)));
    }, () => undefined);
}

function passwordForm() {
    const name = element("input", { name: "name", required: true, autocomplete: "username" });
    const password = element("input", {
        name: "password", type: "password", required: true, autocomplete: "current-password",
    });
    const form = element("form", { class: "panel sign-in", "aria-label": "Sign in by password" },
        element("h2", {}, "By password"), labelled("Name", name), labelled("Password", password),
        element("button", { class: "main" }, "Sign in"));
    onSubmit(form, async () => {
        const found = await service.signInByPassword(name.value, password.value);
        password.value = "";
        begin(found);
    });
    return form;
}

function begin(found) {
    session = found;
    frame.hidden = false;
    document.getElementById("who").textContent =
        session.isAdministrator ? `${session.label}, administrator` : session.label;
    showView();
}

document.getElementById("sign-out").addEventListener("click", () => trying(async () => {
    await service.signOut();
    showSignIn();
    tell("You are signed out.");
}));
/** Another page of this browser may have signed in as somebody else meanwhile. */
async function lookAgain() {
    if (document.hidden || !session) return;
    const former = session;
    try {
        const found = await service.session();
        if (session !== former || found.requestToken === former.requestToken) return;
        begin(found);
        tell("Somebody signed in on another page; this one is theirs now, too.");
    } catch (error) {
        if (error.status !== 401) return;
        window.dispatchEvent(new Event("signed-out"));
        tell(error.message, true);
    }
}

document.addEventListener("visibilitychange", lookAgain);
window.addEventListener("hashchange", showView);
window.addEventListener("signed-out", () => {
    if (session) showSignIn();
});

service.session().then(begin, (error) => {
    showSignIn();
    if (error.status !== 401) tell(error.message, true);
});
