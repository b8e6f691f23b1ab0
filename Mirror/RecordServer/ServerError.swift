/// Why the server cannot start, and what to do about it.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members. The numbers are stable
    /// (README).
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: Int {
            case portInUse = 101
            case addressNotAvailable
            case notPermitted
            case badAddress
            case cannotListen
            case badCertificate = 201
            case badKey
            case cannotWrite
            case authorityKeyMissing
            case cryptography
        }
        private let kind: Kind
        /// The number in the README's table.
        public var number: Int { kind.rawValue }
        public var description: String { "\(kind)" }

        /// Another process listens on the port.
        public static let portInUse = Code(kind: .portInUse)
        /// No interface of this machine has the address.
        public static let addressNotAvailable = Code(kind: .addressNotAvailable)
        /// The system does not let this user listen there.
        public static let notPermitted = Code(kind: .notPermitted)
        /// The address or port is not one.
        public static let badAddress = Code(kind: .badAddress)
        public static let cannotListen = Code(kind: .cannotListen)
        /// The certificate cannot be read, is out of date, or is for another key.
        public static let badCertificate = Code(kind: .badCertificate)
        public static let badKey = Code(kind: .badKey)
        /// A file of the data folder cannot be read or written.
        public static let cannotWrite = Code(kind: .cannotWrite)
        /// The local authority's certificate is there, its key is not.
        public static let authorityKeyMissing = Code(kind: .authorityKeyMissing)
        /// OpenSSL failed in a way of its own; `fields` says which.
        public static let cryptography = Code(kind: .cryptography)
    }

    public var code: Code
    /// One sentence: what failed and what to do.
    public var message: String
    /// Names of the things concerned: address, port, path, reason.
    public var fields: [String: String]
    public var cause: (any Error)?

    public init(
        _ code: Code, _ message: String, fields: [String: String] = [:], cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.fields = fields
        self.cause = cause
    }

    public var description: String { message }
}
