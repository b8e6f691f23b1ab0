internal import Foundation

/// What a service takes in one request, for clients that want to know before they are refused.
public struct ServerCapabilities: Sendable, Codable, Hashable {
    /// Named numbers, such as `operationsPerRequest`; bytes where the name says so.
    public var limits: [String: Int]
    /// Names of what this service does beyond CloudKit Web Services.
    public var extensions: [String]

    public init(limits: [String: Int], extensions: [String]) {
        self.limits = limits
        self.extensions = extensions
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
