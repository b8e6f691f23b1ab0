/// A page as scripts of the console find it, without a browser: elements that know their children,
/// forms that are sent, and a service whose answers come when a test says so.
enum SitePage {
    /// Comes before the modules are imported. `press(title)` and `send(label, values)` do what a
    /// person does; `answer(part, json)` answers the oldest request whose address has `part`.
    static let script = """
        let focused;
        class Element {
            constructor(name) {
                Object.assign(this, { name, children: [], attributes: {}, listeners: {} });
                this.classList = { toggle: () => undefined };
            }
            append(...more) { this.children.push(...more); }
            prepend(...more) { this.children.unshift(...more); }
            replaceChildren(...more) { this.children = more; }
            setAttribute(name, value) { this.attributes[name] = value; }
            removeAttribute(name) { delete this.attributes[name]; }
            addEventListener(name, work) { this.listeners[name] = work; }
            get childElementCount() { return this.children.length; }
            get textContent() { return this.text; }
            set textContent(text) { this.children = [text]; }
            get text() { return this.children.map((each) => each.text ?? each).join(""); }
            get value() {
                if (this.given !== undefined || this.name !== "select") return this.given ?? "";
                const options = this.children;
                return (options.find((each) => "selected" in each.attributes) ?? options[0])?.given;
            }
            set value(value) { this.given = value; }
            get elements() {
                return Object.fromEntries(this.all((each) => each.attributes.name)
                    .map((each) => [each.attributes.name, each]));
            }
            all(isWanted) {
                return this.children.filter((each) => each instanceof Element).flatMap((each) =>
                    [...(isWanted(each) ? [each] : []), ...each.all(isWanted)]);
            }
            querySelector(name) { return this.all((each) => each.name === name)[0] ?? null; }
            focus() { focused = this; }
            reset() {}
            close() { this.listeners.close?.(); }
            remove() { body.children = body.children.filter((each) => each !== this); }
            showModal() {}
        }
        const body = new Element("body");
        const notice = new Element("p");
        globalThis.document = {
            body, createElement: (name) => new Element(name), getElementById: () => notice,
            querySelectorAll: () => [],
        };
        globalThis.window = new Element("window");
        window.removeEventListener = (name) => delete window.listeners[name];
        // Ways back: what was pushed is there to go back from.
        let pushed = 0;
        globalThis.history = {
            pushState: () => { pushed += 1; },
            back: () => {
                if (pushed === 0) throw new Error("the view is left");
                pushed -= 1;
                window.listeners.popstate?.({});
            },
        };
        globalThis.FormData = class {
            constructor(form) { this.form = form; }
            get(name) { return this.form.elements[name].value; }
            *[Symbol.iterator]() {
                for (const [name, each] of Object.entries(this.form.elements)) {
                    yield [name, each.value];
                }
            }
        };
        let waiting = [];
        const asked = [];
        globalThis.fetch = (address, request) => new Promise((resolve) => {
            asked.push(`${request.method} ${address}`);
            waiting.push({ address, resolve });
        });
        const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
        async function answer(part, json, status = 200) {
            await settled();
            const request = waiting.find((each) => each.address.includes(part));
            if (!request) throw new Error(`nobody asked for ${part} but ${asked.join()}`);
            waiting = waiting.filter((each) => each !== request);
            request.resolve({ ok: status < 300, status, json: async () => json });
            await settled();
        }
        async function press(title, place = body) {
            const found = place.all((each) => each.name === "button" && each.text === title);
            if (found.length === 0) throw new Error(`no button ${title} in ${body.text}`);
            found.at(-1).listeners.click({});
            await settled();
        }
        async function send(label, values) {
            const isForm = (each) =>
                each.name === "form" && each.attributes["aria-label"] === label;
            const form = body.all(isForm).at(-1);
            if (!form) throw new Error(`no form ${label} in ${body.text}`);
            for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
            form.listeners.submit({ preventDefault: () => undefined });
            await settled();
        }
        const main = new Element("main");
        body.append(main);
        let place = {};
        const context = {
            session: { isAdministrator: true, waits: true },
            get place() { return place; },
            set place(chosen) { place = chosen; },
            isShown: () => true, onLeave: () => undefined,
        };
        const users = [
            { userRecordName: "_z", label: "Ann" }, { userRecordName: "_a", label: "Ben" },
        ];
        const zones = (...names) => ({
            zones: names.map((zoneName) => ({ zoneID: { zoneName } })),
        });
        /** Shows a view that asks which containers and users there are. */
        async function open(show) {
            const shown = show(main, context);
            await answer("/containers", ["iCloud.org.example"]);
            await answer("/users", users);
            await shown;
        }

        """

    /// What a script prints that works on the page.
    static func printed(by script: String) throws -> String {
        try SiteScript.printed(by: Self.script + script)
    }
}
