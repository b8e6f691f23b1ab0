/// One option of a verb, as it is read and as the help shows it.
struct Option: Sendable {
    /// The name after the two dashes.
    let name: String
    /// What the help calls the value; nil for a switch, which has none.
    let value: String?
    let help: String
    /// Whether `DIPTYCH_NAME` and `diptych.conf` may give the value too.
    let isSetting: Bool
    /// The variable that gives the value where no flag does.
    let variable: String
    /// The words that the value can be, for completion; empty where it is anything.
    let words: [String]
    /// Whether it may be given several times.
    let repeats: Bool

    init(
        _ name: String, _ value: String? = nil, setting: Bool = false, words: [String] = [],
        repeats: Bool = false, variable: String? = nil, _ help: String
    ) {
        self.repeats = repeats
        self.variable =
            variable ?? "DIPTYCH_" + name.uppercased().replacing("-", with: "_")
        self.name = name
        self.value = value
        self.help = help
        isSetting = setting
        // "base|local|remote" says it, but for what is spelled in capitals.
        let spelled = value?.split(separator: "|").map(String.init) ?? []
        let isList = spelled.count > 1
        self.words = words.isEmpty && isList ? spelled.filter { $0 == $0.lowercased() } : words
    }

    /// As the help spells it: `--name VALUE`.
    var spelling: String { value.map { "--\(name) \($0)" } ?? "--\(name)" }
}

/// Options that several verbs share, and those that all have.
extension Option {
    static let json = Option("json", "print JSON, for programs")
    static let quiet = Option("quiet", "print errors only, and what the verb is asked for")
    static let help = Option("help", "print this help")
    static let everywhere = [json, quiet, help]

    static let model = Option(
        "model", "MODEL", setting: true,
        "the store's model: .xcdatamodel(d), .mom(d), or another store")
    static let zone = Option("zone", "NAME", setting: true, "the zone's name, if not Apple's own")

    private init(_ name: String, _ help: String) { self.init(name, nil, help) }
}
