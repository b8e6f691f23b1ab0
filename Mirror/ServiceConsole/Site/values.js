// A field's value as text that a person changes, and back: exactly, or not at all.
// Whole numbers are asked for as texts, since JavaScript's own numbers end at 2^53.

/** A browser takes minutes to break a longer text into lines. */
const editableCharactersMax = 50_000;
const shownCharactersMax = 5_000;

const least = -(2n ** 63n);
const most = 2n ** 63n - 1n;

/** Between the lines of a text; the boxes of a browser have line feeds alone. */
function lineEnding(text) {
    if (text.includes("\r\n")) return "\r\n";
    return text.includes("\r") ? "\r" : "\n";
}

function wholeNumber(text) {
    const digits = text.trim();
    if (!/^[+-]?[0-9]+$/.test(digits)) throw new Error(`“${text}” is no whole number.`);
    return BigInt(digits.replace("+", ""));
}

const readers = {
    STRING: (text, field) => text.replaceAll("\n", lineEnding(field.value)),
    INT64: (text) => {
        const number = wholeNumber(text);
        if (number < least || number > most) throw new Error(`${number} has more than 64 bits.`);
        return String(number);
    },
    DOUBLE: (text) => {
        const number = Number(text);
        if (text.trim() === "" || !Number.isFinite(number)) {
            throw new Error(`“${text}” is no number.`);
        }
        return number;
    },
    TIMESTAMP: (text) => {
        const number = Number(wholeNumber(text));
        if (!Number.isSafeInteger(number)) throw new Error(`${text} is too far from 1970.`);
        return number;
    },
};

/** The value that `text` is in the place of the field's. Throws an error for people. */
export function editedValue(field, text) {
    return readers[field.type](text, field);
}

/** The text to change; undefined for a value that would come back as another one. */
export function editableText(field) {
    if (field.isEncrypted || !readers[field.type]) return undefined;
    const isText = field.type === "STRING";
    if (isText && field.value.length > editableCharactersMax) return undefined;
    const text = isText ? field.value.replace(/\r\n?/g, "\n") : String(field.value);
    if (hasLostDigits(field)) return undefined;
    try {
        return String(editedValue(field, text)) === String(field.value) ? text : undefined;
    } catch {
        return undefined;
    }
}

function hasLostDigits(field) {
    return typeof field.value === "number" && field.type !== "DOUBLE"
        && !Number.isSafeInteger(field.value);
}

/** A field's value as text, for people. */
export function valueText(field) {
    if (field.isEncrypted) return "(sealed on the device)";
    if (field.type === "TIMESTAMP") {
        const date = new Date(field.value);
        return Number.isNaN(date.getTime()) ? String(field.value) : date.toISOString();
    }
    if (field.type === "INT64_LIST") return `[${field.value.join(",")}]`;
    return typeof field.value === "object" ? JSON.stringify(field.value) : String(field.value);
}

/** A value as the page shows it: of a long one the beginning, and how long it is. */
export function shownText(field) {
    const text = valueText(field);
    if (text.length <= shownCharactersMax) return text;
    return `${text.slice(0, shownCharactersMax)}… (${text.length.toLocaleString()} characters in `
        + "all, too many to be changed here)";
}

/** What to compare with in a query: `text` as a value of the type. */
export function typedValue(text, type = "STRING") {
    const reader = readers[type];
    return { type, value: reader ? reader(text, { value: "" }) : text };
}
