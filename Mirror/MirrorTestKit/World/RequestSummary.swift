internal import RecordWire

extension RecordRequest {
    /// Whether the answer tells what others wrote, or that they wrote nothing: of what others do
    /// while a device asks for something else, it knows nothing.
    var tellsOfChanges: Bool {
        switch self {
        case .modifyRecords, .zoneChanges, .recordChanges: true
        default: false
        }
    }

    /// What is asked, in a few words for a story.
    var summary: String {
        switch self {
        case .modifyRecords(let request):
            "saves "
                + request.operations.map { "\($0.kind.rawValue) \($0.record.recordName.suffix(6))" }
                .joined(separator: ", ")
        case .lookupRecords(let request): "looks up \(request.recordNames.count)"
        case .queryRecords(let request): "queries \(request.query.recordType)"
        case .zoneChanges, .recordChanges: "asks for changes"
        case .databaseChanges: "asks for zones that changed"
        case .modifyZones: "makes the zone"
        case .listZones: "lists zones"
        case .lookupZones: "looks up zones"
        case .modifySubscriptions, .lookupSubscriptions, .listSubscriptions:
            "asks about subscriptions"
        case .createToken, .registerToken: "asks for a token"
        case .caller, .currentUser: "asks who it is"
        case .lookupUsers: "asks for users"
        case .resolveShares: "asks for shares"
        case .acceptShares: "accepts shares"
        case .uploadAssets(let upload): "asks to send \(upload.tokens.count) assets"
        case .rereferenceAssets(let request): "asks for \(request.assets.count) assets"
        }
    }
}

extension RecordResponse {
    /// What came back, in a few words for a story.
    var summary: String {
        switch self {
        case .records(let reply):
            reply.results.map { result in
                switch result {
                case .record(let record): record.recordChangeTag ?? "done"
                case .failure(let error): error.code.rawValue
                }
            }.joined(separator: ", ")
        case .zoneChanges(let pages):
            pages.map { page in
                page.failure?.code.rawValue
                    ?? page.records.map {
                        "\($0.recordName.suffix(6))\($0.mark)"
                    }.joined(separator: " ")
            }.joined(separator: "; ")
        case .recordChanges(let page): "\(page.records.count) records"
        case .databaseChanges(let reply): "\(reply.zones.count) zones"
        case .zones(let zones): "\(zones.count) zones"
        case .subscriptions(let found): "\(found.count) subscriptions"
        case .courierToken: "a token"
        case .nothing: "nothing"
        case .caller(let reply): reply.userRecordName
        case .users(let reply): "\(reply.users.count) users"
        case .shares(let results): "\(results.count) shares"
        case .assetUploads(let addresses): "\(addresses.count) addresses"
        case .assets(let results): "\(results.count) assets"
        }
    }
}

extension Record {
    /// A record's tag, with a cross when it is a deletion.
    fileprivate var mark: String { "\(deleted ? "†" : "")@\(recordChangeTag ?? "")" }
}
