internal import Foundation

/// A switch of Apple's framework for looking at its work, set by an environment variable of the
/// same name: `env com.apple.CoreData.SQLDebug=1 program`.
public struct DebugSwitch: Sendable {
    /// Statements and how long they took; from 2 their values, from 4 their plans.
    public static let sql = DebugSwitch(name: "com.apple.CoreData.SQLDebug")
    /// The steps of migrations.
    public static let migration = DebugSwitch(name: "com.apple.CoreData.MigrationDebug")
    /// Whether a context may be used from the wrong queue.
    public static let concurrency = DebugSwitch(name: "com.apple.CoreData.ConcurrencyDebug")

    /// What mirroring does: from 1 its rounds, from 2 their requests, from 3 each step.
    public static let cloudKit = DebugSwitch(name: "com.apple.CoreData.CloudKitDebug")

    /// The variable's name.
    public let name: String
    /// What the variable says when it is first asked for; 0 where it is not set, or is no number.
    public let level: Int

    /// Reads the level from the environment, once: a later change of it is not seen.
    public init(name: String) {
        self.name = name
        level = getenv(name).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The same from `variables`.
    public init(name: String, variables: [String: String]) {
        self.name = name
        level = variables[name].flatMap { Int($0) } ?? 0
    }

    /// Prints a line on standard error. What could steer a terminal is escaped.
    public static func print(_ line: String) {
        FileHandle.standardError.write(Data("CoreData: \(escaped(line))\n".utf8))
    }

    /// `text` in one line, with control and format characters as `\u{…}`.
    public static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
