// What the page asks the service for. Every answer is JSON; an error is one, too.

const root = "/console/api";
let requestToken = "";

/** A refusal in the service's own words. */
export class Refusal extends Error {
    constructor(status, body) {
        super(body.reason || `The service answered with ${status}.`);
        this.status = status;
        this.code = body.serverErrorCode || "";
        /** Seconds that the service asks to wait. */
        this.retryAfter = body.retryAfter;
    }
}

/** Asks for a path below the API's root. Throws a `Refusal`. */
export async function ask(method, path, body, signal) {
    const headers = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (method !== "GET") headers["X-Diptych-Request-Token"] = requestToken;
    let response;
    try {
        response = await fetch(root + path, {
            method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body),
        });
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new Refusal(0, { reason: "The service cannot be reached; is it running?" });
    }
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Refusal(response.status, answer);
    return answer;
}

function remember(session) {
    requestToken = session.requestToken;
    return session;
}

export const word = encodeURIComponent;

function placePath(place) {
    const owner = place.owner ? `?owner=${word(place.owner)}` : "";
    const words = [place.container, place.environment, place.database].map(word).join("/");
    return { words, owner };
}

/** Whose database it is, in words. What would be lost names it: the form above may say another. */
export function placeText(place) {
    const of = place.database === "public" ? "the public database"
        : place.owner ? `the private database of ${place.ownerName} (${place.owner})`
            : "your private database";
    return `${of} in ${place.container}, ${place.environment}`;
}

export const service = {
    session: async () => remember(await ask("GET", "/session")),
    ways: () => ask("GET", "/ways"),
    signIn: async (token) => remember(await ask("POST", "/session", { token })),
    signInByPassword: async (name, password) =>
        remember(await ask("POST", "/session", { name, password })),
    changePassword: (former, password) => ask("POST", "/password", { former, password }),
    signOut: () => ask("DELETE", "/session"),
    status: () => ask("GET", "/status"),
    containers: () => ask("GET", "/containers"),
    addContainer: (name) => ask("POST", "/containers", { name }),
    users: () => ask("GET", "/users"),
    addUser: (label) => ask("POST", "/users", { label }),
    quotas: () => ask("GET", "/quotas"),
    setQuota: (user, wish) => ask("POST", `/quotas/${word(user)}`, wish),
    tokens: () => ask("GET", "/tokens"),
    issueToken: (wish) => ask("POST", "/tokens", wish),
    revokeToken: (id) => ask("DELETE", `/tokens/${word(id)}`),

    lookAtDevice: (userCode) => ask("POST", "/device/look", { userCode }),
    settleDevice: (wish) => ask("POST", "/device/approval", wish),

    schema(place) {
        const { words, owner } = placePath(place);
        return ask("GET", `/schema/${words}${owner}`);
    },

    /** An operation of the record protocol on one database. */
    operation(place, operation, body, signal) {
        const { words, owner } = placePath(place);
        return ask("POST", `/database/${words}/${operation}${owner}`, body, signal);
    },
};
