internal import Foundation
internal import MirrorTestKit
internal import MirrorTransport
internal import Platform
internal import RecordWire

/// Where stories are played: a folder of the moment, and a service in this process or elsewhere.
struct StoryStage {
    let service: ServiceChannel?
    /// Says that nobody waits for the story any more: a service elsewhere is asked for nothing then
    /// but to delete its zone.
    let stop: CancelFlag

    /// Plays a story and removes what was made for it. Throws what stores and service throw.
    func play(_ story: Story, rule: String?) throws -> StoryReport {
        let folder = try PassingFolder("story")
        defer { folder.remove() }
        guard let service else {
            return try StoryRun(story, rule: rule, folder: folder.within).play()
        }
        let zone = "story-\(UUID().uuidString)"
        let wires = StoryWires(service)
        defer {
            _ = try? wires.send(
                .modifyZones([ZoneOperation(.delete, ZoneID(zoneName: zone))]), as: "owner")
        }
        let destination = StoryDestination(
            container: service.place, zone: zone,
            send: { [stop] in
                guard !stop.isCancelled else { throw CancellationError() }
                return try wires.send($0, as: $1)
            },
            wait: { [stop] in
                if !stop.isCancelled { Thread.sleep(forTimeInterval: min($0, 60)) }
            })
        return try StoryRun(
            story, rule: rule, folder: folder.within, destination: destination
        ).play()
    }
}

/// One connection for each device.
private final class StoryWires: Sendable {
    private let service: ServiceChannel
    private let channels = Lock<[String: CurlChannel]>([:])

    init(_ service: ServiceChannel) { self.service = service }

    func send(_ request: RecordRequest, as id: String) throws -> RecordResponse {
        let known = channels.withLock { $0[id] }
        let channel = try known ?? service.carrier(deviceID: id)
        channels.withLock { $0[id] = channel }
        return try channel.sendBlocking(request)
    }
}
