package import Foundation
internal import RecordService
internal import RecordWire

/// The description of the service's HTTP interface in OpenAPI 3.1, served at `/openapi.json`.
package enum OpenAPIDocument {
    /// Its JSON, keys sorted. Throws never in practice: it is made of text and numbers.
    package static func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(document)
    }

    private static let document: DocumentValue = [
        "openapi": "3.1.0",
        "info": [
            "title": "Diptych record service", "version": "1",
            "description": "CloudKit Web Services as docs/SERVICE.md describes it.",
        ],
        "paths": .object(paths),
        "security": [
            ["apiToken": [], "userToken": []], ["apiTokenInQuery": [], "userTokenInQuery": []],
            ["apiToken": []], ["apiTokenInQuery": []],
            ["serverKeyID": [], "serverKeyDate": [], "serverKeySignature": []],
        ],
        "components": [
            "schemas": .object(schemas),
            "securitySchemes": [
                "apiToken": key("header", AccessTokens.apiHeader),
                "userToken": key("header", AccessTokens.userHeader),
                "apiTokenInQuery": key("query", AccessTokens.apiArgument),
                "userTokenInQuery": key("query", AccessTokens.userArgument),
                "serverKeyID": key(
                    "header", RequestSignature.keyHeader,
                    "The ID of a server's key, which lets into the public database of one "
                        + "container and environment."),
                "serverKeyDate": key(
                    "header", RequestSignature.dateHeader,
                    "The present, in ISO 8601; signed as sent."),
                "serverKeySignature": key(
                    "header", RequestSignature.signatureHeader,
                    "Base64 of the DER of ECDSA (P-256, SHA-256) over date:hash:path, where hash "
                        + "is base64 of the body's SHA-256. One that changes something is good "
                        + "once."),
            ],
            "responses": [
                "Refusal": [
                    "description": "The request as a whole was refused.",
                    "content": content("Error"),
                    "headers": [
                        "Retry-After": ["schema": ["type": "integer"]],
                        "X-Apple-Request-UUID": ["schema": ["type": "string"]],
                    ],
                ]
            ],
        ],
    ]

    private static var schemas: [String: DocumentValue] {
        var schemas = OpenAPISchemas.values
        for (name, schema) in OpenAPISchemas.requests { schemas[name] = schema }
        for (name, schema) in OpenAPISchemas.answers { schemas[name] = schema }
        return schemas
    }

    private static func key(
        _ place: String, _ name: String, _ description: String? = nil
    ) -> DocumentValue {
        var scheme: [String: DocumentValue] = [
            "type": "apiKey", "in": .text(place), "name": .text(name),
        ]
        if let description { scheme["description"] = .text(description) }
        return .object(scheme)
    }

    private static func content(_ schema: String) -> DocumentValue {
        ["application/json": ["schema": Schema.named(schema)]]
    }

    // MARK: Paths

    private static var paths: [String: DocumentValue] {
        var paths: [String: DocumentValue] = [:]
        for operation in OpenAPIOperation.all {
            paths["/database/1/{container}/{environment}/{database}/\(operation.path)"] =
                item(operation, parameters: ["container", "environment", "database"])
            guard operation.isOfTokens else { continue }
            for root in ["device", "database"] {
                paths["/\(root)/1/{container}/{environment}/\(operation.path)"] =
                    item(operation, parameters: ["container", "environment"])
            }
        }
        paths["/database/1/{container}/{environment}/{database}/\(ChangeEvents.operation)"] = stream
        paths["/health"] = reading("Health", "Whether the service answers.")
        paths["/healthz"] = reading("Health", "Whether the process lives.")
        paths["/readyz"] = reading("Health", "Whether the service can do its work.")
        paths["/capabilities"] = reading("Capabilities", "Limits and extensions.")
        paths["/openapi.json"] = reading("OpenAPI", "This document.")
        paths["/webcourier"] = reading(
            "Notice", "Waits for the next notice of a courier's token.",
            parameters: [
                ["name": "token", "in": "query", "required": true, "schema": Schema.text]
            ], takesPost: true)
        paths[AssetPath.upload] = [
            "post": upload, "put": upload, "patch": upload,
            "head": [
                "summary": "How much is there of an upload that broke off.",
                "security": [], "parameters": .list([assetKey] + uploadHeads),
                "responses": [
                    "204": ["description": "So many bytes as Upload-Offset says."],
                    "default": ["description": "The address or the head was refused."],
                ],
            ],
        ]
        paths[AssetPath.download] = [
            "get": [
                "summary": "The bytes of an asset, at an address that an answer named.",
                "security": [], "parameters": [assetKey],
                "responses": [
                    "200": ["description": "All of them."],
                    "206": ["description": "Those of a range."],
                    "304": ["description": "None: If-None-Match names the asset."],
                    "412": ["description": "If-Match names another asset."],
                    "default": ["$ref": "#/components/responses/Refusal"],
                ],
            ]
        ]
        return paths
    }

    private static let stream: DocumentValue = [
        "parameters": .list(["container", "environment", "database"].map { parameter($0) }),
        "get": [
            "summary": "A zone's changes as server-sent events, each an answer of changes/zone.",
            "parameters": .list(
                ["zoneName", "ownerRecordName", "syncToken"].map {
                    ["name": .text($0), "in": "query", "schema": Schema.text]
                } + [
                    ["name": "resultsLimit", "in": "query", "schema": ["type": "integer"]],
                    ["name": "Last-Event-ID", "in": "header", "schema": Schema.text],
                ]),
            "responses": [
                "200": [
                    "description": "Events without an end.",
                    "content": .object([ChangeEvents.contentType: [:]]),
                ],
                "default": ["$ref": "#/components/responses/Refusal"],
            ],
        ],
    ]

    private static let clientVersion: DocumentValue = [
        "name": .text(ClientVersion.header), "in": "header",
        "description": "The app's version: fields retired by it are not told.",
        "schema": ["type": "string", "pattern": "^[0-9]{1,9}([.][0-9]{1,9}){0,3}$"],
    ]

    /// What signs an address stands in it.
    private static let assetKey: DocumentValue = [
        "name": "key", "in": "query", "required": true, "schema": Schema.text,
    ]

    private static let uploaded: DocumentValue = [
        "application/octet-stream": [:], "multipart/form-data": [:],
    ]

    private static let upload: DocumentValue = [
        "summary": "Takes the bytes of an asset, at an address of assets/upload.",
        "security": [], "parameters": .list([assetKey] + uploadHeads),
        "requestBody": ["required": true, "content": uploaded],
        "responses": [
            "200": ["description": "The answer.", "content": content("Uploaded")],
            "204": ["description": "A piece is there; more is to come."],
            "default": ["$ref": "#/components/responses/Refusal"],
        ],
    ]

    /// By which an upload goes on after a break.
    private static let uploadHeads: [DocumentValue] = [
        UploadHead.digest, UploadHead.length, UploadHead.offset, UploadHead.isComplete,
    ].map { ["name": .text($0), "in": "header", "schema": Schema.text] }

    private static func reading(
        _ schema: String, _ summary: String, parameters: [DocumentValue] = [],
        takesPost: Bool = false
    ) -> DocumentValue {
        let question: DocumentValue = [
            "summary": .text(summary), "security": [], "parameters": .list(parameters),
            "responses": answers(schema),
        ]
        return takesPost ? ["get": question, "post": question] : ["get": question]
    }

    private static func item(
        _ operation: OpenAPIOperation, parameters: [String]
    ) -> DocumentValue {
        var post = call(operation)
        post["requestBody"] = [
            "required": .flag(!operation.isList), "content": content(operation.request),
        ]
        var item: [String: DocumentValue] = [
            "parameters": .list(parameters.map { parameter($0) } + [clientVersion]),
            "post": .object(post),
        ]
        if operation.isList || operation.takesGet { item["get"] = .object(call(operation)) }
        return .object(item)
    }

    private static func call(_ operation: OpenAPIOperation) -> [String: DocumentValue] {
        ["summary": .text(operation.summary), "responses": answers(operation.answer)]
    }

    private static func answers(_ schema: String) -> DocumentValue {
        [
            "200": ["description": "The answer.", "content": content(schema)],
            "default": ["$ref": "#/components/responses/Refusal"],
        ]
    }

    private static func parameter(_ name: String) -> DocumentValue {
        let schema: DocumentValue =
            switch name {
            case "environment": Schema.choice(RoutePath.environments)
            case "database": Schema.choice(RoutePath.databases)
            default: ["type": "string", "minLength": 1]
            }
        return ["name": .text(name), "in": "path", "required": true, "schema": schema]
    }
}

/// One operation of the protocol, as the document tells it.
struct OpenAPIOperation {
    /// Behind the database.
    let path: String
    let summary: String
    /// Names of schemas.
    let request: String
    let answer: String
    /// Whether it takes GET too, and no body is needed.
    var isList = false
    /// Whether GET asks for something else than POST.
    var takesGet: Bool { path == "users/discover" }

    /// Whether its path may have no database.
    var isOfTokens: Bool { path.hasPrefix("tokens/") }

    private init(
        _ path: String, _ summary: String, _ request: String, _ answer: String,
        isList: Bool = false
    ) {
        self.path = path
        self.summary = summary
        self.request = request
        self.answer = answer
        self.isList = isList
    }

    static let all = [
        OpenAPIOperation(
            "records/modify", "Writes and deletes records.", "ModifyRecords", "Records"),
        OpenAPIOperation("records/lookup", "Records by name.", "LookupRecords", "Records"),
        OpenAPIOperation("records/query", "Records by their values.", "QueryRecords", "Records"),
        OpenAPIOperation(
            "records/changes", "A zone's changes; deprecated.", "RecordChanges", "ChangesPage"),
        OpenAPIOperation("changes/zone", "Changes of zones.", "ZoneChanges", "ZoneChangesAnswer"),
        OpenAPIOperation(
            "changes/database", "Which zones changed.", "DatabaseChanges",
            "DatabaseChangesAnswer"),
        OpenAPIOperation(
            "zones/changes", "Which zones changed; deprecated.", "DatabaseChanges",
            "ZonesChangedAnswer"),
        OpenAPIOperation("zones/modify", "Makes and deletes zones.", "ModifyZones", "Zones"),
        OpenAPIOperation("zones/lookup", "Zones by name.", "LookupZones", "Zones"),
        OpenAPIOperation("zones/list", "All zones.", "Nothing", "Zones", isList: true),
        OpenAPIOperation(
            "subscriptions/modify", "Makes, changes and deletes subscriptions.",
            "ModifySubscriptions", "Subscriptions"),
        OpenAPIOperation(
            "subscriptions/lookup", "Subscriptions by name.", "LookupSubscriptions",
            "Subscriptions"),
        OpenAPIOperation(
            "subscriptions/list", "All subscriptions.", "Nothing", "Subscriptions", isList: true),
        OpenAPIOperation("tokens/create", "A token of the courier.", "CreateToken", "Token"),
        OpenAPIOperation(
            "tokens/register", "Takes a token of Apple's.", "RegisterToken", "EmptyAnswer"),
        OpenAPIOperation(
            "assets/upload", "Addresses to send assets to.", "UploadAssets", "UploadAddresses"),
        OpenAPIOperation(
            "assets/rereference", "Receipts for assets of other records.", "RereferenceAssets",
            "Assets"),
        OpenAPIOperation("users/caller", "Who calls.", "Nothing", "Caller", isList: true),
        OpenAPIOperation(
            "users/current", "Who calls; deprecated.", "Nothing", "FormerUser", isList: true),
        OpenAPIOperation(
            "users/discover", "Users who agreed to be found.", "DiscoverUsers", "Users"),
        OpenAPIOperation(
            "users/lookup/email", "Users by address; deprecated.", "UsersByEmail", "FormerUsers"),
        OpenAPIOperation(
            "users/lookup/id", "Users by name; deprecated.", "UsersByID", "FormerUsers"),
        OpenAPIOperation(
            "users/lookup/contacts", "Nobody; deprecated.", "Nothing", "FormerUsers"),
        OpenAPIOperation(
            "records/resolve", "What short GUIDs lead to.", "ShortGUIDs", "Shares"),
        OpenAPIOperation(
            "records/accept", "Takes part in shares.", "ShortGUIDs", "Shares"),
    ]
}
