internal import RecordWire

/// The bodies of answers. Later versions may say more.
extension OpenAPISchemas {
    static let answers: [String: DocumentValue] = [
        "Error": error,
        "EmptyAnswer": Schema.open([:]),
        "Records": Schema.open(
            [
                "records": results("Record"), "syncToken": Schema.text,
                "previousSyncToken": Schema.text, "continuationMarker": Schema.text,
                "epochs": Schema.named("Epochs"), "damagedRecords": Schema.texts,
            ], required: ["records"]),
        "Epochs": Schema.open(
            [
                "incarnation": Schema.text, "floor": Schema.whole, "newest": Schema.whole,
                "line": Schema.list(
                    Schema.open(
                        ["epoch": Schema.text, "first": Schema.whole],
                        required: ["epoch", "first"])),
            ], required: ["incarnation", "newest", "line"]),
        "ChangesPage": Schema.open(page, required: pageRequired),
        "ZoneChangesAnswer": zoneChangesAnswer,
        "DatabaseChangesAnswer": zonesChanged("syncToken"),
        "ZonesChangedAnswer": zonesChanged("metaSyncToken"),
        "Zones": Schema.open(["zones": results("Zone")], required: ["zones"]),
        "Zone": Schema.open(
            [
                "zoneID": Schema.named("ZoneID"), "syncToken": Schema.text,
                "atomic": Schema.flag, "deleted": Schema.flag,
            ], required: ["zoneID"]),
        "Subscriptions": Schema.open(
            [
                "subscriptions": Schema.list(
                    Schema.oneOf(
                        Schema.named("Subscription"),
                        Schema.open(
                            ["subscriptionID": Schema.text, "deleted": Schema.flag],
                            required: ["subscriptionID", "deleted"]), Schema.named("Error")))
            ], required: ["subscriptions"]),
        "Token": Schema.open(
            [
                "apnsEnvironment": Schema.choice("development", "production"),
                "apnsToken": Schema.text, "webcourierURL": Schema.text,
            ], required: ["apnsEnvironment", "apnsToken", "webcourierURL"]),
        "UploadAddresses": Schema.open(
            [
                "tokens": Schema.list(
                    Schema.open(
                        [
                            "recordName": Schema.text, "fieldName": Schema.text,
                            "url": Schema.text,
                        ], required: ["fieldName", "url"]))
            ], required: ["tokens"]),
        "Assets": Schema.open(["assets": results("AnsweredAsset")], required: ["assets"]),
        "Uploaded": Schema.open(
            ["singleFile": Schema.named("AnsweredAsset")], required: ["singleFile"]),
        "AnsweredAsset": Schema.open([
            "fileChecksum": Schema.text, "size": Schema.whole, "downloadURL": Schema.text,
            "referenceChecksum": Schema.text, "wrappingKey": Schema.text, "receipt": Schema.text,
        ]),
        "Caller": Schema.open([
            "userRecordName": Schema.text,
            "nameComponents": Schema.strict(
                Dictionary(NameParts.names.map { ($0, Schema.text) }) { first, _ in first }),
            "lookupInfo": Schema.named("LookupInfo"), "serviceID": Schema.text,
        ]),
        "FormerUser": Schema.open(
            [
                "userRecordName": Schema.text, "firstName": Schema.text, "lastName": Schema.text,
                "emailAddress": Schema.text,
            ], required: ["userRecordName"]),
        "Users": Schema.open(["users": Schema.list(Schema.named("User"))], required: ["users"]),
        "FormerUsers": Schema.open(
            ["users": Schema.list(Schema.named("FormerUser"))], required: ["users"]),
        "Shares": Schema.open(["results": results("ShareFound")], required: ["results"]),
        "ShareFound": Schema.open(
            [
                "shortGUID": Schema.text, "containerIdentifier": Schema.text,
                "environment": Schema.choice(RoutePath.environments),
                "databaseScope": Schema.choice("PRIVATE", "SHARED"),
                "zoneID": Schema.named("ZoneID"), "rootRecordName": Schema.text,
                "rootRecord": Schema.named("Record"), "share": Schema.named("Record"),
                "ownerIdentity": Schema.named("User"), "participantPermission": Schema.text,
                "participantStatus": Schema.text, "participantType": Schema.text,
            ], required: ["shortGUID", "zoneID", "share"]),
        "Health": Schema.open(["status": Schema.text], required: ["status"]),
        "Capabilities": Schema.open(
            [
                "limits": ["type": "object", "additionalProperties": ["type": "integer"]],
                "extensions": Schema.texts,
            ], required: ["limits", "extensions"]),
        "OpenAPI": Schema.open(["openapi": Schema.text], required: ["openapi"]),
        "Notice": notice,
    ]

    private static var error: DocumentValue {
        Schema.open(
            [
                "uuid": Schema.text, "recordName": Schema.text, "zoneID": Schema.named("ZoneID"),
                "subscriptionID": Schema.text, "serverErrorCode": Schema.text,
                "reason": Schema.text, "retryAfter": Schema.double, "redirectURL": Schema.text,
                "serverRecord": Schema.named("Record"),
            ], required: ["serverErrorCode", "reason"])
    }

    private static let page: [String: DocumentValue] = [
        "syncToken": Schema.text, "moreComing": Schema.flag, "epochs": Schema.named("Epochs"),
        "writeIDs": Schema.flag, "records": Schema.list(Schema.named("Record")),
        "damagedRecords": Schema.texts,
    ]

    private static let pageRequired = ["syncToken", "moreComing", "records"]

    private static var zoneChangesAnswer: DocumentValue {
        var members = page
        members["zoneID"] = Schema.named("ZoneID")
        let zone = Schema.open(members, required: pageRequired + ["zoneID"])
        let zones = Schema.list(Schema.oneOf(zone, Schema.named("Error")))
        return Schema.open(["zones": zones], required: ["zones"])
    }

    private static func results(_ name: String) -> DocumentValue {
        Schema.list(Schema.oneOf(Schema.named(name), Schema.named("Error")))
    }

    private static func zonesChanged(_ token: String) -> DocumentValue {
        Schema.open(
            [
                "zones": Schema.list(
                    Schema.open(
                        ["zoneID": Schema.named("ZoneID"), "deleted": Schema.flag],
                        required: ["zoneID", "deleted"])),
                token: Schema.text, "moreComing": Schema.flag,
            ], required: ["zones", token, "moreComing"])
    }

    private static var notice: DocumentValue {
        let place: [String: DocumentValue] = [
            "zid": Schema.text, "zoid": Schema.text, "dbs": Schema.oneToThree,
            "sid": Schema.text,
        ]
        var record = place
        record["rid"] = Schema.text
        record["fo"] = Schema.oneToThree
        record["af"] = Schema.open([:])
        return Schema.open([
            "aps": Schema.open([
                "alert": Schema.oneOf(Schema.text, alert), "badge": Schema.whole,
                "sound": Schema.text, "category": Schema.text,
                "content-available": Schema.whole, "mutable-content": Schema.whole,
            ]),
            "ck": Schema.open([
                "nid": Schema.text, "ce": Schema.whole, "cid": Schema.text,
                "qry": Schema.open(record, required: ["rid", "fo", "zid", "dbs", "sid"]),
                "fet": Schema.open(place, required: ["zid", "dbs", "sid"]),
                "met": Schema.open(place, required: ["dbs", "sid"]),
            ]),
        ])
    }
}

extension OpenAPISchemas {
    fileprivate static let alert = Schema.open([
        "title": Schema.text, "title-loc-key": Schema.text, "title-loc-args": Schema.texts,
        "subtitle": Schema.text, "subtitle-loc-key": Schema.text,
        "subtitle-loc-args": Schema.texts, "body": Schema.text, "loc-key": Schema.text,
        "loc-args": Schema.texts, "action-loc-key": Schema.text, "launch-image": Schema.text,
    ])
}

extension Schema {
    /// The numbers of kinds in notices.
    fileprivate static let oneToThree: DocumentValue = [
        "type": "integer", "minimum": 1, "maximum": 3,
    ]
}
