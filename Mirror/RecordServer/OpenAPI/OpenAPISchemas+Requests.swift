internal import RecordWire

/// The bodies of requests. No other member than these is taken.
extension OpenAPISchemas {
    static let requests: [String: DocumentValue] = [
        "Nothing": Schema.strict([:]),
        "Client": Schema.strict(
            [
                "instance": Schema.text, "round": Schema.whole, "nonce": Schema.text,
                "witness": Schema.text, "writeIDs": Schema.flag,
            ], required: ["instance", "round", "nonce"]),
        "ModifyRecords": Schema.strict(
            [
                "operations": Schema.list(
                    Schema.strict(
                        [
                            "operationType": Schema.choice(
                                RecordOperation.Kind.allCases.map(\.rawValue)),
                            "record": Schema.named("Record"), "recordType": Schema.text,
                        ], required: ["operationType", "record"])),
                "zoneID": Schema.named("ZoneID"), "atomic": Schema.flag,
                "desiredKeys": Schema.texts, "numbersAsStrings": Schema.flag,
                "numberAsStrings": Schema.flag, "client": Schema.named("Client"),
            ], required: ["operations"]),
        "LookupRecords": Schema.strict(
            [
                "records": Schema.list(
                    Schema.strict(
                        ["recordName": Schema.text, "desiredKeys": Schema.texts],
                        required: ["recordName"])),
                "zoneID": Schema.named("ZoneID"), "desiredKeys": Schema.texts,
                "numbersAsStrings": Schema.flag, "numberAsStrings": Schema.flag,
                "client": Schema.named("Client"),
            ], required: ["records"]),
        "QueryRecords": Schema.strict(
            [
                "query": Schema.named("Query"), "zoneID": Schema.named("ZoneID"),
                "zoneWide": Schema.flag, "resultsLimit": Schema.positive,
                "continuationMarker": Schema.text, "desiredKeys": Schema.texts,
                "numbersAsStrings": Schema.flag, "numberAsStrings": Schema.flag,
            ], required: ["query"]),
        "RecordChanges": recordChanges, "ZoneChanges": zoneChanges,
        "DatabaseChanges": Schema.strict([
            "syncToken": Schema.text, "metaSyncToken": Schema.text,
            "resultsLimit": Schema.positive,
        ]),
        "ModifyZones": Schema.strict(
            [
                "operations": Schema.list(
                    Schema.strict(
                        [
                            "operationType": Schema.choice("create", "delete"),
                            "zone": Schema.strict(
                                [
                                    "zoneID": Schema.named("ZoneID"), "syncToken": [:],
                                    "atomic": [:],
                                ], required: ["zoneID"]),
                        ], required: ["operationType", "zone"]))
            ], required: ["operations"]),
        "LookupZones": Schema.strict(
            [
                "zones": Schema.list(
                    Schema.oneOf(
                        Schema.named("ZoneID"),
                        Schema.strict(["zoneID": Schema.named("ZoneID")], required: ["zoneID"])))
            ], required: ["zones"]),
        "ModifySubscriptions": Schema.strict(
            [
                "operations": Schema.list(
                    Schema.strict(
                        [
                            "operationType": Schema.choice(
                                SubscriptionOperation.Kind.allCases.map(\.rawValue)),
                            "subscription": Schema.named("Subscription"),
                        ], required: ["operationType", "subscription"]))
            ], required: ["operations"]),
        "LookupSubscriptions": Schema.strict(
            [
                "subscriptions": Schema.list(
                    Schema.strict(
                        ["subscriptionID": Schema.text], required: ["subscriptionID"]))
            ], required: ["subscriptions"]),
        "UploadAssets": Schema.strict(
            [
                "tokens": Schema.list(
                    Schema.strict(
                        [
                            "recordName": Schema.text, "recordType": Schema.text,
                            "fieldName": Schema.text,
                        ], required: ["fieldName"])), "zoneID": Schema.named("ZoneID"),
            ], required: ["tokens"]),
        "RereferenceAssets": Schema.strict(
            [
                "assets": Schema.list(
                    Schema.strict(
                        ["recordName": Schema.text, "fieldName": Schema.text],
                        required: ["recordName", "fieldName"])),
                "zoneID": Schema.named("ZoneID"),
            ], required: ["assets"]),
        "DiscoverUsers": Schema.strict(
            ["lookupInfos": Schema.list(Schema.named("LookupInfo"))], required: ["lookupInfos"]),
        "UsersByEmail": users(by: "emailAddress"), "UsersByID": users(by: "userRecordName"),
        "ShortGUIDs": Schema.strict(
            [
                "shortGUIDs": Schema.list(
                    Schema.strict(
                        [
                            "value": Schema.text, "shouldFetchRootRecord": Schema.flag,
                            "rootRecordDesiredKeys": Schema.texts,
                        ], required: ["value"]))
            ], required: ["shortGUIDs"]),
        "CreateToken": token(required: []),
        "RegisterToken": token(required: ["apnsEnvironment", "apnsToken"]),
    ]

    private static let changes: [String: DocumentValue] = [
        "syncToken": Schema.text, "reverse": Schema.flag, "desiredKeys": Schema.texts,
        "desiredRecordTypes": Schema.texts, "resultsLimit": Schema.positive,
        "numbersAsStrings": Schema.flag, "numberAsStrings": Schema.flag,
    ]

    private static var recordChanges: DocumentValue {
        var members = changes
        members["zoneID"] = Schema.named("ZoneID")
        members["client"] = Schema.named("Client")
        return Schema.strict(members, required: ["zoneID"])
    }

    private static var zoneChanges: DocumentValue {
        var members = changes
        members["zones"] = Schema.list(Schema.named("RecordChanges"))
        members["waitSeconds"] = Schema.positive
        return Schema.strict(members, required: ["zones"])
    }

    private static func users(by name: String) -> DocumentValue {
        Schema.strict(
            ["users": Schema.list(Schema.strict([name: Schema.text], required: [name]))],
            required: ["users"])
    }

    private static func token(required: [String]) -> DocumentValue {
        Schema.strict(
            [
                "apnsEnvironment": Schema.choice("development", "production"),
                "apnsToken": Schema.text, "clientId": [:], "bundleID": [:],
            ], required: required)
    }
}
