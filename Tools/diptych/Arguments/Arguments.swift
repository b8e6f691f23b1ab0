internal import Foundation

/// What a verb was told: by flags, then by `DIPTYCH_*` variables, then by `diptych.conf`.
struct Arguments: Sendable {
    /// Who gave a value.
    enum Source: Sendable {
        case flag, variable
        case file(ConfigurationFile)
    }

    let manual: Manual
    let operands: [String]
    let environment: [String: String]
    /// What to say about the files of settings before anything else is done.
    let warnings: [String]
    private let flags: [String: String]
    private let files: [ConfigurationFile]

    init(
        manual: Manual, operands: [String], flags: [String: String],
        environment: [String: String]
    ) throws {
        self.manual = manual
        self.operands = operands
        self.flags = flags
        self.environment = environment
        let hasSettings = flags["help"] == nil && manual.options.contains(where: \.isSetting)
        let store = manual.readsSettingsBesideStore ? operands.first : nil
        (files, warnings) =
            hasSettings
            ? try ConfigurationFile.all(besideStore: store, environment: environment) : ([], [])
    }

    var invocation: Invocation { Invocation(manual: manual, operands: operands, flags: flags) }

    /// Whether the switch, or the option as a flag, was given.
    func has(_ option: Option) -> Bool { flags[option.name] != nil }

    /// The option's value; nil where nobody gave one.
    func value(_ option: Option) -> String? { found(option)?.value }

    /// All values of an option that may be given several times, in order.
    func values(_ option: Option) -> [String] {
        (value(option) ?? "").components(separatedBy: Self.separator).filter { !$0.isEmpty }
    }

    /// Between the values of one option; no word of a command line has it.
    static let separator = "\0"

    /// The option's value as a file. A relative path of a `diptych.conf` starts at that file.
    func file(_ option: Option) -> URL? {
        found(option).map { value, source in
            var folder: URL?
            if case .file(let file) = source { folder = file.folder }
            return URL(fileURLWithPath: value, relativeTo: folder).absoluteURL
        }
    }

    /// The file beside the store that gave the option's value; nil where another did.
    func fileBesideStore(_ option: Option) -> ConfigurationFile? {
        guard case .file(let file)? = found(option)?.source, file.isBesideStore else { return nil }
        return file
    }

    /// What to say of lines of files that do not count since a variable says something else.
    var overruled: [String] {
        manual.options.compactMap { option in
            guard option.isSetting, flags[option.name] == nil,
                let value = environment[option.variable], !value.isEmpty,
                let file = files.first(where: { $0.values[option.name] != nil }),
                file.values[option.name] != value
            else { return nil }
            return "\(option.variable) is set, so '\(option.name)' of \(file.url.path) does not "
                + "count"
        }
    }

    func operand(_ index: Int) -> String { index < operands.count ? operands[index] : "" }

    /// The first operand as a file.
    var store: URL { URL(fileURLWithPath: operand(0)).absoluteURL }

    /// The value, or an error that says how to give it.
    func required(_ option: Option) throws -> String {
        if let value = value(option) { return value }
        let place = manual.readsSettingsBesideStore ? "beside the store" : "in XDG_CONFIG_HOME"
        throw CommandError(
            "usage", "--\(option.name) is missing.",
            hint: "Write \(option.spelling), set \(option.variable), or put "
                + "'\(option.name) = …' into diptych.conf \(place).", status: .usage)
    }

    /// The value as a whole number within `range`.
    func number(_ option: Option, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = value(option) else { return nil }
        let read = Int(text)
        guard let number = read, range.contains(number) else {
            throw CommandError(
                "usage",
                read == nil
                    ? "--\(option.name) is a whole number, which '\(text)' is not."
                    : "--\(option.name) cannot be '\(text)'.",
                hint: "Give one from \(range.lowerBound) to \(range.upperBound).", status: .usage)
        }
        return number
    }

    /// The value as one of `words`.
    func choice(_ option: Option, among words: [String]) throws -> String? {
        guard let word = value(option) else { return nil }
        guard words.contains(word) else {
            throw Self.unknown(word, among: words, as: "--\(option.name)")
        }
        return word
    }

    /// An operand, the first unless said otherwise, as one of the verb's works.
    func work<Work: RawRepresentable<String> & CaseIterable>(
        _ works: Work.Type, at place: Int = 0
    ) throws -> Work {
        let word = operand(place)
        if let work = Work(rawValue: word) { return work }
        throw Self.unknown(word, among: Work.allCases.map(\.rawValue), as: "WORK")
    }

    private static func unknown(
        _ word: String, among words: [String], as name: String
    ) -> CommandError {
        let near = Spelling.nearest(to: word, among: words).map { "Did you mean \($0)? " } ?? ""
        return CommandError(
            "usage", "\(name) cannot be '\(word)'.",
            hint: near + "Choose one of \(words.joined(separator: ", ")).", status: .usage)
    }

    private func found(_ option: Option) -> (value: String, source: Source)? {
        if let value = flags[option.name] { return (value, .flag) }
        guard option.isSetting else { return nil }
        if let value = environment[option.variable], !value.isEmpty { return (value, .variable) }
        for file in files {
            if let value = file.values[option.name] { return (value, .file(file)) }
        }
        return nil
    }
}
