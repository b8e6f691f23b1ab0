internal import Foundation
package import Platform
package import RecordService
package import RecordWire

/// A record service in this process, with one container and one user, reached without a socket.
package struct SimulatedService: Sendable {
    package let service: RecordService
    private let caller: Caller
    package static let container = "iCloud.test.world"

    /// A service whose data live in the file at `path`, which may hold an earlier one's.
    package init(platform: Environment, path: String = ":memory:") throws {
        service = try RecordService(path: path, platform: platform)
        if try !service.accounts.containers().contains(Self.container) {
            try service.accounts.createContainer(Self.container)
        }
        caller = Caller(userRecordName: "user")
    }

    package func handle(_ request: RecordRequest, from device: String) throws -> RecordResponse {
        let target = RecordTarget(container: Self.container, deviceID: device)
        return try service.handle(request, target: target, caller: caller)
    }

    /// All live records of a zone by name, read through the change feed as a new device would.
    package func records(inZone name: String) throws -> [String: Record] {
        var records: [String: Record] = [:]
        var token: String?
        while true {
            let zone = ZoneChanges.Zone(zoneID: ZoneID(zoneName: name), syncToken: token)
            let response = try handle(.zoneChanges(ZoneChanges(zones: [zone])), from: "observer")
            guard case .zoneChanges(let pages) = response, let page = pages.first,
                page.failure == nil
            else { return records }
            for record in page.records {
                records[record.recordName] = record.deleted ? nil : record
            }
            token = page.syncToken
            if !page.moreComing { return records }
        }
    }
}
