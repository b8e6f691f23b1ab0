internal import RecordWire

/// Values that requests and answers share.
enum OpenAPISchemas {
    static let values: [String: DocumentValue] = [
        "ZoneID": Schema.strict([
            "zoneName": Schema.text, "ownerRecordName": Schema.text, "ownerName": Schema.text,
            "zoneType": Schema.text,
        ]),
        "Field": field,
        "Reference": Schema.strict(
            [
                "recordName": Schema.text, "zoneID": Schema.named("ZoneID"),
                "action": Schema.choice("NONE", "DELETE_SELF", "VALIDATE"),
            ], required: ["recordName"]),
        "Location": Schema.strict(
            [
                "latitude": Schema.anyDouble, "longitude": Schema.anyDouble,
                "horizontalAccuracy": Schema.anyDouble, "verticalAccuracy": Schema.anyDouble,
                "altitude": Schema.anyDouble, "speed": Schema.anyDouble,
                "course": Schema.anyDouble, "timestamp": Schema.whole,
            ], required: ["latitude", "longitude"]),
        "Asset": Schema.strict([
            "fileChecksum": Schema.text, "size": Schema.whole, "downloadURL": Schema.text,
            "referenceChecksum": Schema.text, "wrappingKey": Schema.text, "receipt": Schema.text,
        ]),
        "Stamp": Schema.strict(
            [
                "timestamp": Schema.whole, "userRecordName": Schema.text, "user": Schema.text,
                "deviceID": Schema.text,
            ], required: ["timestamp"]),
        "Replay": Schema.strict(
            ["tag": Schema.text, "version": Schema.text], required: ["tag"]),
        "Record": Schema.strict([
            "recordName": Schema.text, "recordType": Schema.text,
            "recordChangeTag": Schema.text, "writeID": Schema.text, "writeIDs": Schema.texts,
            "replays": Schema.list(Schema.named("Replay")),
            "fields": ["type": "object", "additionalProperties": Schema.named("Field")],
            "pluginFields": [:], "created": Schema.named("Stamp"),
            "modified": Schema.named("Stamp"), "deleted": Schema.flag,
            "zoneID": Schema.named("ZoneID"), "createShortGUID": Schema.flag,
            "desiredKeys": Schema.texts,
            "shortGUID": Schema.text,
            "parent": Schema.oneOf(Schema.named("RecordPointer"), ["type": "null"]),
            "share": Schema.named("RecordPointer"), "forRecord": Schema.named("SharedRecord"),
            "publicPermission": permission,
            "participants": Schema.list(Schema.named("Participant")),
            "owner": Schema.named("Participant"),
            "currentUserParticipant": Schema.named("Participant"),
        ]),
        "Query": Schema.strict(
            [
                "recordType": Schema.text,
                "filterBy": Schema.oneOf(
                    Schema.list(Schema.named("Filter")), Schema.named("Filter")),
                "sortBy": Schema.oneOf(Schema.list(Schema.named("Sort")), Schema.named("Sort")),
            ], required: ["recordType"]),
        "Filter": Schema.strict(
            [
                "comparator": Schema.choice(
                    RecordFilter.Comparator.allCases.map(\.rawValue) + ["CONTAINS_ANY"]),
                "fieldName": Schema.text, "systemFieldName": Schema.text,
                "fieldValue": Schema.named("Field"), "distance": Schema.anyDouble,
            ], required: ["comparator", "fieldValue"]),
        "Sort": Schema.strict([
            "fieldName": Schema.text, "systemFieldName": Schema.text, "ascending": Schema.flag,
            "relativeLocation": Schema.oneOf(Schema.named("Location"), Schema.named("Field")),
        ]),
        "RecordPointer": Schema.strict(
            [
                "recordName": Schema.text, "zoneID": Schema.named("ZoneID"),
                "action": Schema.text,
            ], required: ["recordName"]),
        "SharedRecord": Schema.strict(
            ["recordName": Schema.text, "recordChangeTag": Schema.text], required: ["recordName"]),
        "Participant": Schema.strict([
            "participantId": Schema.text, "userIdentity": Schema.named("User"),
            "permission": permission,
            "type": Schema.choice(ShareParticipant.Kind.allCases.map(\.rawValue)),
            "acceptanceStatus": Schema.choice(ShareParticipant.Status.allCases.map(\.rawValue)),
        ]),
        "User": Schema.strict([
            "userRecordName": Schema.text,
            "nameComponents": Schema.strict(
                Dictionary(NameParts.names.map { ($0, Schema.text) }) { first, _ in first }),
            "lookupInfo": Schema.named("LookupInfo"),
        ]),
        "LookupInfo": Schema.strict([
            "emailAddress": Schema.text, "phoneNumber": Schema.text,
            "userRecordName": Schema.text,
        ]),
        "Subscription": subscription,
        "NotificationInfo": notificationInfo,
    ]

    private static var permission: DocumentValue {
        Schema.choice(ShareParticipant.Permission.allCases.map(\.rawValue))
    }

    private static var field: DocumentValue {
        let plain = FieldType.allCases.map(\.rawValue) + ["ASSET", "ENCRYPTED_BYTES", "UNKNOWN"]
        return Schema.strict(
            [
                "type": Schema.choice(plain.dropLast() + plain.map { $0 + "_LIST" }),
                "value": [
                    "description": "As the type says; null clears the field.",
                    "anyOf": [
                        ["type": ["string", "number", "null"]], Schema.named("Reference"),
                        Schema.named("Location"), Schema.named("Asset"), ["type": "array"],
                    ],
                ],
                "isEncrypted": Schema.flag,
            ], required: ["value"])
    }

    private static var subscription: DocumentValue {
        Schema.strict([
            "subscriptionID": Schema.text,
            "subscriptionType": Schema.choice(
                "query", "zone", "database", "QUERY", "ZONE", "DATABASE"),
            "zoneID": Schema.named("ZoneID"), "zoneWide": Schema.flag,
            "query": Schema.named("Query"),
            "firesOn": Schema.list(Schema.choice("create", "update", "delete")),
            "firesOnce": Schema.flag, "fireOnce": Schema.flag,
            "notificationInfo": Schema.named("NotificationInfo"),
        ])
    }

    private static var notificationInfo: DocumentValue {
        var members: [String: DocumentValue] = [:]
        for key in NotificationInfo.textKeys { members[key] = Schema.text }
        for key in NotificationInfo.listKeys { members[key] = Schema.texts }
        for key in NotificationInfo.flagKeys { members[key] = Schema.flag }
        return Schema.strict(members)
    }
}
