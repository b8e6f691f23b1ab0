/// What the model compiler cannot do, with the file and line that ask for it.
struct CompilerError: Error, CustomStringConvertible {
    /// What kind of failure it is.
    enum Code: String {
        case arguments, cannotRead, cannotWrite, malformedSource, unsupportedMember
        case unsupportedType, unknownType, unknownProperty, model
    }

    var code: Code
    /// One sentence: what failed, and what to do.
    var message: String
    /// `file` and `line`, where there are any.
    var fields: [String: String]
    /// The error below, where there is one.
    var cause: (any Error)?

    init(_ code: Code, _ message: String, at place: SourcePlace? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        fields = [:]
        if let place {
            fields["file"] = place.file
            fields["line"] = String(place.line)
        }
    }

    /// As compilers say it, so that editors find the line.
    var description: String {
        guard let file = fields["file"], let line = fields["line"] else {
            return "error: \(message)"
        }
        return "\(file):\(line): error: \(message)"
    }
}

/// A line of a source file.
struct SourcePlace: Hashable {
    var file: String
    var line: Int
}
