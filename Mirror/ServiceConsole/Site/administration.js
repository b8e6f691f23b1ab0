// What the page asks the service for in the name of an administrator alone.

import { ask, word } from "/console/service.js";

function schemaPath(container, environment) {
    return `/schemas/${word(container)}/${word(environment)}`;
}

export const administration = {
    acts: () => ask("GET", "/audit"),

    // Users.
    user: (user) => ask("GET", `/users/${word(user)}`),
    setProfile: (user, wish) => ask("POST", `/users/${word(user)}`, wish),
    setPassword: (user, wish) => ask("POST", `/users/${word(user)}/password`, wish),
    removePassword: (user) => ask("DELETE", `/users/${word(user)}/password`),
    unlink: (user) => ask("DELETE", `/users/${word(user)}/identities`),
    revokeTokens: (user) => ask("DELETE", `/users/${word(user)}/tokens`),

    // Servers' keys.
    keys: () => ask("GET", "/keys"),
    addKey: (wish) => ask("POST", "/keys", wish),
    revokeKey: (id) => ask("DELETE", `/keys/${word(id)}`),

    // Roles.
    roles: (container) => ask("GET", `/roles/${word(container)}`),
    grant: (container, wish) => ask("POST", `/roles/${word(container)}/grants`, wish),
    removeGrants: (container, recordType) =>
        ask("DELETE", `/roles/${word(container)}/grants/${word(recordType)}`),
    giveRole: (container, wish) => ask("POST", `/roles/${word(container)}/members`, wish),
    takeRole: (container, role, user) =>
        ask("DELETE", `/roles/${word(container)}/members/${word(role)}/${word(user)}`),

    // Schemas.
    schema: (container, environment) => ask("GET", schemaPath(container, environment)),
    compareSchema: (container, environment, text) =>
        ask("POST", `${schemaPath(container, environment)}/difference`, { text }),
    previewImport: (container, text) =>
        ask("POST", `/schemas/${word(container)}/preview`, { text }),
    /** As with `deploy`: what was shown, or nothing. */
    importSchema: (container, text, changes) =>
        ask("POST", `/schemas/${word(container)}`, { text, changes }),
    previewDeployment: (container) => ask("GET", `/schemas/${word(container)}/deployment`),
    /** Only what was shown: the service refuses where it would be something else by now. */
    deploy: (container, changes) =>
        ask("POST", `/schemas/${word(container)}/deployment`, { changes }),
    declareUnique: (container, recordType, fields) =>
        ask("POST", `/schemas/${word(container)}/keys`, { recordType, fields }),
    undeclareUnique: (container, environment, recordType, fields) => ask("DELETE",
        `${schemaPath(container, environment)}/keys/${word(recordType)}/${word(fields.join(","))}`),
    retire: (container, recordType, field, from) =>
        ask("POST", `/schemas/${word(container)}/retirements`, { recordType, field, from }),
    keep: (container, environment, recordType, field) => ask("DELETE",
        `${schemaPath(container, environment)}/retirements/${word(recordType)}/${word(field)}`),
    holders: (container, environment, recordType, field) => ask("GET",
        `${schemaPath(container, environment)}/fields/${word(recordType)}/${word(field)}`),
    removeField: (container, environment, recordType, field) => ask("DELETE",
        `${schemaPath(container, environment)}/fields/${word(recordType)}/${word(field)}`),

    // Where records and assets are.
    backups: () => ask("GET", "/backups"),
    backUp: () => ask("POST", "/backups"),
    checkBackup: (name) => ask("POST", `/backups/${word(name)}/check`),
    objects: () => ask("GET", "/objects"),
    removeObjects: () => ask("DELETE", "/objects"),
};
