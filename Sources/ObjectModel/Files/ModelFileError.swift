/// What a model file says that cannot be understood, where, and what was expected instead.
public struct ModelFileError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; compare with the static members.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case cannotRead, cannotWrite, tooLarge, notAModel, unsupportedFormat, malformed
            case missingVersion, missingName, duplicateName, badValue, unknownAttributeType
            case unknownEntity, unknownProperty, unknownComposite, inheritanceCircle
        }
        private let kind: Kind
        public var description: String { kind.rawValue }

        /// The file is absent, or the system refused to read it.
        public static let cannotRead = Code(kind: .cannotRead)
        /// The file or bundle cannot be written, or the model holds what its format has no place
        /// for.
        public static let cannotWrite = Code(kind: .cannotWrite)
        /// The file is larger, deeper or has more parts than any real model.
        public static let tooLarge = Code(kind: .tooLarge)
        /// The file is readable but is no model.
        public static let notAModel = Code(kind: .notAModel)
        /// A kind of model file that only Apple's tools read.
        public static let unsupportedFormat = Code(kind: .unsupportedFormat)
        /// The XML or the archive is broken.
        public static let malformed = Code(kind: .malformed)
        /// The bundle has no such version, or does not say which one is current.
        public static let missingVersion = Code(kind: .missingVersion)
        /// An entity, property or element without a name.
        public static let missingName = Code(kind: .missingName)
        /// Two of a kind with one name.
        public static let duplicateName = Code(kind: .duplicateName)
        /// A number, a flag or another value that is not of its type.
        public static let badValue = Code(kind: .badValue)
        /// A type of attribute that this version does not know.
        public static let unknownAttributeType = Code(kind: .unknownAttributeType)
        /// A parent or destination that the model does not have.
        public static let unknownEntity = Code(kind: .unknownEntity)
        /// An inverse relationship that does not exist.
        public static let unknownProperty = Code(kind: .unknownProperty)
        /// A composite attribute of a type that the model does not have.
        public static let unknownComposite = Code(kind: .unknownComposite)
        /// An entity among its own parents.
        public static let inheritanceCircle = Code(kind: .inheritanceCircle)
    }

    /// What kind of failure it is.
    public var code: Code
    /// One sentence: the file and line, what is wrong, and what was expected.
    public var message: String
    /// Names of the things concerned: `file`, `line`, `entity`, `property`, `value`, `expected`.
    public var fields: [String: String]
    /// The system's own error, where there is one.
    public var cause: (any Error)?

    /// `message` is a sentence; what it is about goes into `fields`.
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

extension ModelFileError {
    /// An error about the whole of `file`.
    init(_ code: Code, file: String, _ sentence: String, cause: (any Error)? = nil) {
        self.init(
            code, "\(Self.shortName(of: file)): \(sentence)", fields: ["file": file], cause: cause)
    }

    /// An error about one line of `file`; 0 stands for the whole of it.
    init(_ code: Code, file: String, line: Int, _ sentence: String, fields: [String: String] = [:])
    {
        var fields = fields
        fields["file"] = file
        var place = Self.shortName(of: file)
        if line > 0 {
            fields["line"] = String(line)
            place += ", line \(line)"
        }
        self.init(code, "\(place): \(sentence)", fields: fields)
    }

    /// The last two components of a path: a model's `contents` file says nothing by its own name.
    private static func shortName(of path: String) -> String {
        path.split(separator: "/").suffix(2).joined(separator: "/")
    }
}
