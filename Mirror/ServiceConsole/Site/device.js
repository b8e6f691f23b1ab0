// Lets a device in that shows a code.

import {
    button, choice, element, labelled, newestOnly, tell, trying, userChoices,
} from "/console/elements.js";
import { service } from "/console/service.js";

export async function device(main, context) {
    const question = element("div", { "aria-live": "polite" });
    const code = element("input", {
        name: "code", required: true, autocomplete: "off", autocapitalize: "characters",
        spellcheck: "false", size: "12",
    });
    const form = element("form", { class: "panel", "aria-label": "Code" },
        labelled("Code that the device shows", code),
        element("button", { class: "main" }, "Look"));
    const look = newestOnly();
    const settle = (userCode, approves, user) => trying(async () => {
        await service.settleDevice({ userCode, approves, user });
        question.replaceChildren();
        form.reset();
        tell(approves ? "The device is let in." : "The device is refused.");
    });
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        trying(async () => {
            const isNewest = look();
            // The device that was looked at is let in, whatever is typed meanwhile.
            const userCode = code.value;
            question.replaceChildren();
            const found = await service.lookAtDevice(userCode);
            let user;
            if (context.session.isAdministrator) {
                const users = await service.users();
                user = choice("user", userChoices(users));
            }
            if (!isNewest()) return;
            question.replaceChildren(element("div", { class: "panel" },
                element("p", {}, "The device “", element("strong", {}, found.label),
                    "” wants to read and write the records of ",
                    context.session.isAdministrator ? "this user" : "yours", " in ",
                    element("code", {}, found.container), ". Let it in only if it is at hand."),
                user ? labelled("User", user) : null,
                element("div", { class: "actions" },
                    button("Let in", () => settle(userCode, true, user?.value), "main"),
                    button("Refuse", () => settle(userCode, false), "bad"))));
        });
    });
    main.append(element("h1", {}, "Let a device in"), form, question);
}
