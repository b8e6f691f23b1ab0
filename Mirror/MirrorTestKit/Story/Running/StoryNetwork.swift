internal import Foundation
internal import MirrorEngine
internal import Platform
internal import RecordService
package import RecordWire

/// A record service outside this process on which a story is played.
package struct StoryDestination: Sendable {
    /// Service and container, as the devices' stores remember them.
    package let container: String
    /// A zone that nobody else uses.
    package let zone: String
    /// Carries a request of a device, and waits for the answer.
    package let send: @Sendable (RecordRequest, _ deviceID: String) throws -> RecordResponse
    /// Lets time pass where the service asks for it.
    package let wait: @Sendable (Double) -> Void

    package init(
        container: String, zone: String,
        send: @escaping @Sendable (RecordRequest, String) throws -> RecordResponse,
        wait: @escaping @Sendable (Double) -> Void
    ) {
        self.container = container
        self.zone = zone
        self.send = send
        self.wait = wait
    }
}

/// The way from a story's devices to their service, and what is lost on it.
final class StoryNetwork {
    /// What becomes of a device's next requests.
    struct Weather {
        var isOffline = false
        var losesRequest = false
        var losesAnswer = false
        var diesAfterSending = false
    }

    /// nil where the service is elsewhere.
    let service: SimulatedService?
    private let destination: StoryDestination?
    /// Whether requests go to the public database.
    private let isPublic: Bool
    private var weather: [String: Weather] = [:]
    private var backup: URL?
    /// What may happen to requests beyond the story's own lines; for tests of the laws.
    var disturb: ((RecordRequest) -> RecordRequest)?

    init(service: SimulatedService, isPublic: Bool = false) {
        self.service = service
        self.isPublic = isPublic
        destination = nil
    }

    init(destination: StoryDestination) {
        self.destination = destination
        service = nil
        isPublic = false
    }

    var container: String {
        if let destination { return destination.container }
        let container = SimulatedService.container
        guard isPublic else { return container }
        return MirrorDestination(service: "simulated", container: container, isPublic: true).name
    }
    var zone: String? { destination?.zone }

    func wait(_ seconds: Double) { destination?.wait(seconds) }

    func change(_ device: String, _ body: (inout Weather) -> Void) {
        body(&weather[device, default: Weather()])
    }

    func weather(of device: String) -> Weather { weather[device] ?? Weather() }

    /// A request that nothing befalls. `user` is another user than the owner of the zone.
    func send(
        _ request: RecordRequest, as id: String, of user: String? = nil
    ) throws -> RecordResponse {
        if isPublic, let service {
            return try service.handlePublic(request, from: id, of: user)
        }
        if let user {
            guard let service else { throw Self.elsewhere }
            return try service.handle(request, from: id, of: user)
        }
        if let destination { return try destination.send(request, id) }
        guard let service else { throw Unreachable(message: "There is no service.") }
        return try service.handle(request, from: id)
    }

    /// A device's request over its weather. Throws `SimulatedCrash` where the device dies once the
    /// service has its records.
    func carry(
        _ request: RecordRequest, from device: String, id: String, of user: String? = nil
    ) throws -> Result<RecordResponse, any Error> {
        let weather = weather(of: device)
        if weather.isOffline { return .failure(Unreachable(message: "There is no network.")) }
        let sends: Bool
        if case .modifyRecords = request { sends = true } else { sends = false }
        if sends, weather.losesRequest {
            change(device) { $0.losesRequest = false }
            return .failure(LostMessage())
        }
        let answer = Result { try send(disturb?(request) ?? request, as: id, of: user) }
        if sends, weather.diesAfterSending {
            change(device) { $0.diesAfterSending = false }
            throw SimulatedCrash(point: "after sending")
        }
        if sends, weather.losesAnswer {
            change(device) { $0.losesAnswer = false }
            return .failure(LostMessage())
        }
        return answer
    }

    static let elsewhere = StoryError(
        "That can only happen with a service in this process.", "Run it without --service.")

    // MARK: The service's own fate

    /// Throws `StoryError` where the service is elsewhere.
    func befall(_ deed: StoryServiceDeed, zone: String) throws {
        if deed == .deleteZone {
            _ = try send(
                .modifyZones([ZoneOperation(.delete, ZoneID(zoneName: zone))]), as: "owner")
            return
        }
        guard let service else { throw Self.elsewhere }
        switch deed {
        case .backUp: backup = try service.copy()
        case .restore:
            guard let backup else {
                throw StoryError(
                    "The service was not backed up.", "Write 'the service is backed up' before.")
            }
            try service.restore(backup)
        case .lose: try service.lose()
        case .deleteZone: break
        }
    }
}

/// The way of one device's assets. A service elsewhere gets all values in records.
final class StoryAssets: AssetCarrier {
    private let network: StoryNetwork
    private let device: String

    init(network: StoryNetwork, device: String) {
        self.network = network
        self.device = device
    }

    var assetSupport: AssetSupport { network.service?.assetSupport ?? .none }

    func upload(_ bytes: Data, to address: String) -> Result<RecordAsset, any Error> {
        Result { try reachable().upload(bytes, to: address) }
    }

    func download(_ download: AssetDownload) -> Result<Void, any Error> {
        Result {
            try reachable().content(of: download.asset).write(to: download.file, options: .atomic)
        }
    }

    private func reachable() throws -> SimulatedService {
        guard !network.weather(of: device).isOffline, let service = network.service else {
            throw Unreachable(message: "There is no network.")
        }
        return service
    }
}

/// A device cannot reach the service.
struct Unreachable: ChannelFailure {
    let message: String
    let fields: [String: String] = [:]
    let isTransient = true
    let retryAfterSeconds: Double? = nil
}
