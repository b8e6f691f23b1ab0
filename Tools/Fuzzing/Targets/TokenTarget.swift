internal import Foundation
internal import RecordService
internal import RecordWire

/// Tokens and keys that clients show: each text is shown wherever one is taken. Only those that
/// were given out let somebody in.
enum TokenTarget {
    static func show(_ data: Data) throws {
        let world = try FuzzedService.borrow()
        let text = world.filled(String(decoding: data, as: UTF8.self))
        let service = world.service
        try letsIn(text, world.words["USER"], "a user's token") {
            _ = try service.authenticate(
                apiToken: world.words["API"], userToken: text, container: FuzzedService.container)
        }
        try letsIn(text, world.words["API"], "an API token") {
            _ = try service.authenticate(
                apiToken: text, userToken: world.words["USER"], container: FuzzedService.container)
        }
        try letsIn(text, world.words["COURIER"], "a courier's token") {
            _ = try service.user(ofCourierToken: text)
        }
        try letsIn(text, world.words["UPLOAD"], "the address of an upload") {
            _ = try service.beginUpload(key: text)
        }
        try letsIn(text, nil, "the address of an asset") { _ = try service.openAsset(key: text) }
        var zone = ZoneChanges.Zone(zoneID: ZoneID(zoneName: "z"), syncToken: text)
        zone.resultsLimit = 2
        var backwards = zone
        backwards.isReversed = true
        for request in [
            RecordRequest.zoneChanges(ZoneChanges(zones: [zone])),
            .zoneChanges(ZoneChanges(zones: [backwards])),
            .databaseChanges(DatabaseChanges(syncToken: text)),
        ] {
            try refused {
                let answer = try service.handle(
                    request, target: FuzzedService.target, caller: world.caller)
                _ = try WireCodec.encode(answer, to: request)
            }
        }
        try refused {
            let marked = #"{"query":{"recordType":"T"},"continuationMarker":\#(quoted(text))}"#
            let request = try WireCodec.decodeRequest(
                path: "records/query", method: "POST", body: Data(marked.utf8))
            _ = try service.handle(request, target: FuzzedService.target, caller: world.caller)
        }
    }

    private static func quoted(_ text: String) -> String {
        let data = try? JSONEncoder().encode(text)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }

    /// Refusals are what most texts deserve.
    private static func refused(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as RecordError where error.code != .internalError {
            return
        }
    }

    private static func letsIn(
        _ text: String, _ good: String?, _ what: String, _ body: () throws -> Void
    ) throws {
        var isIn = false
        try refused {
            try body()
            isIn = true
        }
        guard isIn, text != good else { return }
        throw BrokenPromise(description: "\(what) was taken that nobody gave out")
    }
}
