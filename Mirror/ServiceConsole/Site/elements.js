// Small makers of elements. What comes from records goes into the page as text, never as markup.

/** An element with properties (`class`, `onclick`, attributes) and children. */
export function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue;
        if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
        else if (key === "value") made.value = value;
        else made.setAttribute(key === "className" ? "class" : key, value === true ? "" : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
}

/** A button that does one thing at a time: a click is passed over until the one before is done. */
export function button(title, onclick, kind) {
    let isAtWork = false;
    const once = async (event) => {
        if (isAtWork) return;
        isAtWork = true;
        try {
            await onclick(event);
        } finally {
            isAtWork = false;
        }
    };
    return element("button", { type: "button", class: kind, onclick: once }, title);
}

/**
 * Does `work` when the form is sent, and tells of its refusal as `trying` does. Until it is done
 * the form takes nothing: a double click would make two of what it makes.
 */
export function onSubmit(form, work, place) {
    let isAtWork = false;
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        if (isAtWork) return;
        isAtWork = true;
        form.setAttribute("aria-busy", "true");
        await trying(work, place);
        form.removeAttribute("aria-busy");
        isAtWork = false;
    });
}

/** A button of a table's row, which says what it is of to who does not see the row. */
export function rowButton(title, of, onclick, kind) {
    const made = button(title, onclick, kind);
    made.setAttribute("aria-label", `${title} ${of}`);
    return made;
}

/** A field with its label. */
export function labelled(title, field) {
    return element("label", {}, title, field);
}

/** A choice among `options`: texts, or pairs of value and title. */
export function choice(name, options, chosen, onchange) {
    const made = element("select", { name, onchange });
    for (const option of options) {
        const [value, title] = Array.isArray(option) ? option : [option, option];
        made.append(element("option", { value, selected: value === chosen }, title));
    }
    return made;
}

/** Users for a choice, by their labels. */
export function userChoices(users) {
    return users.map((user) => [user.userRecordName, user.label || user.userRecordName])
        .sort(([, one], [, other]) => one.localeCompare(other));
}

/**
 * A table that scrolls sideways where it must. Columns are `{ title, cell(row), isNumber }`;
 * `emptyText` stands in its place where there are no rows.
 */
export function table(caption, columns, rows, emptyText) {
    if (rows.length === 0) return element("p", { class: "soft" }, emptyText);
    const head = columns.map((column) =>
        element("th", { scope: "col", class: column.isNumber && "number" }, column.title));
    const body = rows.map((row) => element("tr", {}, columns.map((column) =>
        element("td", { class: column.isNumber && "number" }, column.cell(row) ?? ""))));
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        element("table", {}, element("thead", {}, element("tr", {}, head)),
            element("tbody", {}, body)));
}

/** Asks before something that cannot be taken back. Resolves to true where it is wanted. */
export function confirmed(question, title) {
    return new Promise((resolve) => {
        const dialog = element("dialog", { "aria-label": question });
        const close = (answer) => {
            dialog.close();
            dialog.remove();
            resolve(answer);
        };
        const cancel = button("Cancel", () => close(false));
        // A key that is held down agrees to nothing.
        cancel.autofocus = true;
        dialog.append(element("p", {}, question), element("div", { class: "actions" },
            button(title, () => close(true), "bad"), cancel));
        dialog.addEventListener("cancel", (event) => {
            event.preventDefault();
            close(false);
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

/**
 * A form in a dialog. `work` gets the form's fields; where it fails, the dialog stays and says why,
 * since nothing else of the page is heard meanwhile.
 */
export function asked(title, content, submitTitle, work) {
    const dialog = element("dialog", { "aria-label": title });
    const problem = element("p", { class: "bad", role: "alert" });
    const form = element("form", {}, element("h2", {}, title), content, problem,
        element("div", { class: "actions" }, element("button", { class: "main" }, submitTitle),
            button("Cancel", () => dialog.close())));
    onSubmit(form, async () => {
        await work(form.elements);
        dialog.close();
    }, problem);
    dialog.append(form);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

/** A box to check, with its words behind it. */
export function checkbox(title, name, isChecked = false) {
    return element("label", { class: "check" },
        element("input", { type: "checkbox", name, checked: isChecked }), title);
}

/** Shows a text that is seen this once, to be copied. */
export function shown(title, pairs) {
    const dialog = element("dialog", { "aria-label": title });
    dialog.append(element("h2", {}, title), element("p", {},
        "Copy them now: the service keeps only their hashes and never shows them again."));
    for (const [name, text] of pairs) {
        dialog.append(labelled(name,
            element("textarea", { readonly: true, rows: "2", value: text })));
    }
    dialog.append(element("div", { class: "actions" }, button("Done", () => dialog.close(), "main")));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

export function tell(text, isBad = false) {
    const notice = document.getElementById("notice");
    notice.textContent = text;
    notice.classList.toggle("bad", isBad);
    // The page gave room: what one is at stays in sight.
    const focused = document.activeElement;
    if (text && focused?.matches?.("button, input, select, textarea, a")) {
        focused.scrollIntoView({ block: "nearest" });
    }
}

/** Runs `work` and tells of its refusal: below the page, or in `place`. */
export async function trying(work, place) {
    try {
        tell("");
        if (place) place.textContent = "";
        return await work();
    } catch (error) {
        if (error.name === "AbortError") return undefined;
        if (error.status === 401) {
            for (const dialog of document.querySelectorAll("dialog")) dialog.remove();
            window.dispatchEvent(new Event("signed-out"));
        } else if (place) {
            place.textContent = error.message;
            return undefined;
        }
        tell(error.message, true);
        return undefined;
    }
}

/**
 * Numbers questions whose answers go to one place. Each call stands for a question, and returns
 * what says whether it is still the newest; the answer of an older one is passed over.
 */
export function newestOnly() {
    let newest = 0;
    return () => {
        newest += 1;
        const own = newest;
        return () => own === newest;
    };
}

export function time(milliseconds) {
    if (!milliseconds) return "never";
    const date = new Date(milliseconds);
    return element("time", { datetime: date.toISOString(), title: date.toISOString() },
        date.toLocaleString());
}

export function duration(milliseconds) {
    const minutes = Math.floor(milliseconds / 60000);
    if (minutes < 60) return `${minutes} min`;
    if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
    return `${Math.floor(minutes / 1440)} days`;
}

export function bytes(count) {
    const units = ["B", "kB", "MB", "GB", "TB"];
    let unit = 0;
    let value = count;
    while (value >= 1000 && unit < units.length - 1) {
        value /= 1000;
        unit += 1;
    }
    return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export function number(value) {
    return value.toLocaleString();
}

/** "1 record", "2 records". */
export function counted(count, one) {
    return `${number(count)} ${one}${count === 1 ? "" : "s"}`;
}

/**
 * Lets the browser's way back do what `close` does, once, instead of leaving the view. Returns what
 * a button of the page is to do for the same.
 */
export function closedByWayBack(context, close) {
    const end = () => window.removeEventListener("popstate", heard);
    const heard = () => {
        end();
        close();
    };
    history.pushState(null, "");
    window.addEventListener("popstate", heard);
    context.onLeave(end);
    return () => history.back();
}
