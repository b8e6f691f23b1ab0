import Foundation
import MirrorEngine
import ObjectModel
import Platform
import RecordWire
import SQLiteStore
import Stores

@testable import MirrorTestKit

/// One model carried from one device to another through a service, and back, over the wire's own
/// bytes.
struct CarriedModel {
    /// What came of it.
    enum Outcome {
        case converged
        /// The model, or something in it, cannot be carried; the reason is one sentence.
        case refused(String)
        case failed(String)
    }

    /// One line of the table.
    struct Line {
        var name: String
        var entities = 0
        var objects = 0
        var pairs = 0
        var outcome = Outcome.converged
        /// What could not be filled, and why.
        var unfilled: [GraphFiller.Unfilled] = []
    }

    let name: String
    let model: NSManagedObjectModel
    let seed: UInt64
    var objectsPerEntity = 4
    var edits = 12

    /// What the service would not take.
    private struct Refusal: Error { var reason: String }

    private struct Difference: Error, CustomStringConvertible {
        var description: String
    }

    /// Fills one device, syncs, edits both, syncs until quiet, and compares the two files.
    func run() -> Line {
        var line = Line(name: name)
        line.entities = model.entities.count
        do {
            let scratch = try Scratch()
            try carry(in: scratch, &line)
        } catch let refusal as Refusal {
            line.outcome = .refused(refusal.reason)
        } catch let error as StoreError where error.code == .unsupported {
            line.outcome = .refused("\(error.message) \(Self.text(error.fields))")
        } catch let error as StoreError {
            line.outcome = .failed("\(error.code): \(error.message) \(Self.text(error.fields))")
        } catch {
            line.outcome = .failed("\(error)")
        }
        return line
    }

    private static func text(_ fields: [String: String]) -> String {
        let parts = fields.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return "(\(parts.joined(separator: ", ")))"
    }

    private func carry(in scratch: Scratch, _ line: inout Line) throws {
        let settings = WorldSettings(model: model)
        let clock = VirtualClock()
        let service = try SimulatedService(
            platform: Environment(
                clock: clock, randomness: SeededRandomness(seed: seed), faults: NoFaults()))
        let devices = try ["A", "B"].enumerated().map { index, name in
            try SimulatedDevice(
                name: name, file: scratch.url("\(name).sqlite"), settings: settings,
                platform: Environment(
                    clock: clock, randomness: SeededRandomness(seed: seed &+ UInt64(index) + 1),
                    faults: NoFaults()),
                updateDice: SeededRandomness(seed: seed), aheadDice: SeededRandomness(seed: seed),
                isLater: false)
        }
        let filler = GraphFiller(model: model, randomness: SeededRandomness(seed: seed ^ 0xF1))
        let report = try filler.fill(devices[0].store, objectsPerEntity: objectsPerEntity)
        line.objects = report.objectCount
        line.pairs = report.pairs
        line.unfilled = report.unfilled
        try sync(devices, service)
        try compare(devices, scratch, after: "the first sync")
        try edit(devices, clock)
        try sync(devices, service)
        try compare(devices, scratch, after: "edits on both")
    }

    // MARK: Editing

    private func edit(_ devices: [SimulatedDevice], _ clock: VirtualClock) throws {
        var editor = GraphEditor(
            randomness: SeededRandomness(seed: seed ^ 0xED), model: model)
        for device in devices {
            for _ in 0..<edits {
                clock.advance(seconds: 0.25)
                _ = try editor.edit(device)
            }
        }
    }

    // MARK: Syncing

    /// Rounds of all devices until a pass moves nothing.
    private func sync(_ devices: [SimulatedDevice], _ service: SimulatedService) throws {
        for _ in 0..<Self.passesMax {
            var moved = 0
            for device in devices { moved += try round(device, service) }
            if moved == 0 { return }
        }
        throw Difference(description: "The devices go on exchanging records.")
    }

    private func round(_ device: SimulatedDevice, _ service: SimulatedService) throws -> Int {
        let session = device.session
        var limits = RoundLimits()
        limits.attemptsMax = 1
        session.startRound(limits: limits)
        while session.isRunning {
            guard let request = try session.step(now: .distantFuture) else { continue }
            session.answer(answer(request, device, service))
        }
        guard let result = session.lastResult, result.isInSync else {
            let error = session.lastResult?.error
            throw error ?? MirrorError(.stopped, "The round of \(device.name) ended early.")
        }
        guard result.refused == 0 else {
            let refusals = try device.mirrored.status()?.refusals.map(\.reason) ?? []
            throw Refusal(reason: Set(refusals).sorted().joined(separator: "; "))
        }
        return result.exported + result.imported.received
    }

    /// The service's answer, through the wire's bytes in both directions.
    private func answer(
        _ request: RecordRequest, _ device: SimulatedDevice, _ service: SimulatedService
    ) -> Result<RecordResponse, any Error> {
        do {
            let sent = try WireCodec.encode(request)
            let arrived = try WireCodec.decodeRequest(
                path: sent.path, method: sent.method, body: sent.body)
            let id = try device.mirrored.deviceID()
            let response = try service.handle(arrived, from: id)
            let body = try WireCodec.encode(response, to: arrived)
            return .success(try WireCodec.decodeResponse(to: request, body))
        } catch {
            return .failure(error)
        }
    }

    private static let passesMax = 8

    // MARK: Comparing

    private func compare(
        _ devices: [SimulatedDevice], _ scratch: Scratch, after step: String
    ) throws {
        let images = try devices.map { device in
            try StoreImage(
                file: scratch.url("\(device.name).sqlite"),
                schema: try device.store.read { $0.schema })
        }
        for (device, image) in zip(devices, images) where !image.faults.isEmpty {
            throw Difference(
                description: "After \(step), in \(device.name): \(image.faults.prefix(3))")
        }
        let differences = images[0].differences(from: images[1])
        guard differences.isEmpty else {
            throw Difference(
                description: "After \(step): \(differences.joined(separator: "\n        "))")
        }
        guard images[0].rowCount > 0 || model.entities.allSatisfy(\.isAbstract) else {
            throw Difference(description: "After \(step) there are no rows.")
        }
    }
}
