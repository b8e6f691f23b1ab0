public import MirrorEngine
internal import MirrorTestKit
public import ObjectModel
public import Testing

/// Gives a test two devices and a service of its own, as `TwoDevices.current`.
public struct TwoDevicesTrait: TestTrait, TestScoping {
    private let model: @Sendable () throws -> NSManagedObjectModel
    private let policy: MergePolicy
    private let seed: UInt64

    init(
        model: @escaping @Sendable () throws -> NSManagedObjectModel, policy: MergePolicy,
        seed: UInt64
    ) {
        self.model = model
        self.policy = policy
        self.seed = seed
    }

    /// Makes the devices, runs the test with them, and removes their files. Throws what making
    /// them throws, which is an issue of the test.
    public func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let devices = try TwoDevices(model: model(), policy: policy, seed: seed)
        try await TwoDevices.$current.withValue(devices) { try await function() }
    }
}

extension Trait where Self == TwoDevicesTrait {
    /// Two devices with empty stores of a model, and their service; new ones for each case.
    public static func twoDevices(
        model: @escaping @Sendable () throws -> NSManagedObjectModel,
        policy: MergePolicy = MergePolicy(), seed: UInt64 = 1
    ) -> Self {
        TwoDevicesTrait(model: model, policy: policy, seed: seed)
    }
}
