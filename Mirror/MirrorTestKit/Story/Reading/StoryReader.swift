internal import Foundation
internal import MirrorEngine
internal import ObjectModel

/// Reads the lines of a story: first what there is, then what happens.
struct StoryReader {
    let folder: URL
    private var title = ""
    private var models: [String: ModelLines] = [:]
    private var modelName = ""
    private var devices: [StoryDevice] = []
    private var policy = MergePolicy()
    private var comparedRules: [String] = []
    private var assetValueBytesMax: Int?
    private var isPublic = false
    private var steps: [StoryStep] = []

    init(folder: URL) { self.folder = folder }

    mutating func read(_ text: String) throws -> Story {
        let lines = text.split(omittingEmptySubsequences: false) { ["\n", "\r\n"].contains($0) }
        for (index, line) in lines.enumerated() {
            do {
                try read(line: String(line), number: index + 1)
            } catch let error as StoryError {
                throw error.at(index + 1)
            }
        }
        guard !models.isEmpty else {
            throw StoryError(
                "The story has no model.",
                "Write 'entity Note: title text', or 'model from FILE' for one of yours.")
        }
        guard !devices.isEmpty else {
            throw StoryError("The story has no devices.", "Write 'devices Ann, Ben'.")
        }
        var story = Story(
            title: title, model: NSManagedObjectModel(), devices: devices, policy: policy)
        story.models = try models.mapValues { try $0.model() }
        story.comparedRules = comparedRules
        story.assetValueBytesMax = assetValueBytesMax
        story.isPublic = isPublic
        story.steps = steps
        var check = StoryCheck(story)
        try check.run()
        return story
    }

    private mutating func read(line: String, number: Int) throws {
        var words = try StoryWords(line)
        guard !words.isEmpty else { return }
        if try head(&words, line, number) { return }
        let reader = StepReader(devices: devices.map(\.name))
        let action = try reader.action(&words)
        let plain = line.trimmingCharacters(in: .whitespaces)
        steps.append(StoryStep(action, line: number, text: Self.uncommented(plain)))
    }

    /// Reads a line that says what there is. Returns whether it was one.
    private mutating func head(
        _ words: inout StoryWords, _ line: String, _ number: Int
    ) throws -> Bool {
        switch words.plain {
        case "story": title = try readTitle(line)
        case "model": try readModel(&words)
        case "entity":
            _ = words.take()
            try models[modelName, default: ModelLines()].addEntity(&words, line: number)
        case "relation":
            _ = words.take()
            try models[modelName, default: ModelLines()].addRelation(&words)
        case "unique":
            _ = words.take()
            try models[modelName, default: ModelLines()].addUnique(&words)
        case "policy":
            _ = words.take()
            policy.standard = try StoryWords.rule(&words, "policy RULE")
            try words.end("policy RULE")
        case "deletion":
            _ = words.take()
            policy.deletion = try StoryWords.deletion(&words, "deletion RULE")
            try words.end("deletion RULE")
        case "assets": try readAssets(&words)
        case "database": try readDatabase(&words)
        case "compare": try readCompared(&words)
        case "device", "devices": try readDevices(&words)
        default: return false
        }
        return true
    }

    private func readTitle(_ line: String) throws -> String {
        let text = line.trimmingCharacters(in: .whitespaces).dropFirst("story".count)
        return Self.uncommented(String(text)).trimmingCharacters(in: .whitespaces)
    }

    /// A line without the remark at its end.
    private static func uncommented(_ line: String) -> String {
        var isQuoted = false
        var text = ""
        for character in line {
            if character == "\"" { isQuoted.toggle() }
            if character == "#", !isQuoted { break }
            text.append(character)
        }
        return text.trimmingCharacters(in: .whitespaces)
    }

    private mutating func readModel(_ words: inout StoryWords) throws {
        let form = "model NAME, or model from FILE, or model NAME from FILE"
        _ = words.take()
        modelName = words.plain == "from" ? "" : try words.word("a model's name", form)
        guard models[modelName] == nil else {
            throw StoryError(
                "There is a model \(modelName.isEmpty ? "already" : modelName + " already").",
                "Give the other one a name of its own.")
        }
        models[modelName] = ModelLines()
        guard words.take("from") else { return try words.end(form) }
        let path: String
        switch words.take() {
        case .plain(let word)?: path = word
        case .quoted(let text)?: path = text
        default: throw StoryError("The model's file is missing.", "Write: \(form)")
        }
        let file = URL(fileURLWithPath: path, relativeTo: folder)
        models[modelName] = try ModelLines(file: file, path: path)
        try words.end(form)
    }

    private mutating func readAssets(_ words: inout StoryWords) throws {
        let form = "assets above 100 bytes"
        _ = words.take()
        try words.expect("above", form)
        let number = try words.word("a number", form)
        guard let bytes = Int(number), bytes >= 0 else {
            throw StoryError("'\(number)' is no number of bytes.", "Write: \(form)")
        }
        guard words.takeAny("bytes", "byte") else {
            throw StoryError("'bytes' is missing.", "Write: \(form)")
        }
        try words.end(form)
        assetValueBytesMax = bytes
    }

    private mutating func readDatabase(_ words: inout StoryWords) throws {
        _ = words.take()
        isPublic = words.take("public")
        guard isPublic || words.take("private") else {
            throw StoryError(
                "A story's database is private or public.",
                "Write 'database public'; without such a line it is private, and shared with who "
                    + "takes part in a share.")
        }
        try words.end("database public")
    }

    private mutating func readCompared(_ words: inout StoryWords) throws {
        let form = "compare policies local, remote, latest"
        _ = words.take()
        guard words.takeAny("policies", "rules") else {
            throw StoryError("Only policies are compared.", "Write: \(form)")
        }
        comparedRules = try words.list("a rule", form)
        for name in comparedRules { _ = try StoryWords.rule(named: name) }
        try words.end(form)
    }

    private mutating func readDevices(_ words: inout StoryWords) throws {
        let form =
            "devices Ann, Ben; devices Phone, Tablet of Cem; or device Ann with clock 5 minutes "
            + "ahead, policy latest"
        guard steps.isEmpty else {
            throw StoryError("A device comes after the story began.", "Name all devices first.")
        }
        if words.take("devices") {
            let names = try words.list("a device's name", form)
            let user = try words.take("of") ? words.word("a user's name", form) : nil
            for name in names {
                var device = StoryDevice(name)
                device.user = user
                try add(device)
            }
            return try words.end(form)
        }
        _ = words.take()
        var device = StoryDevice(try words.word("a device's name", form))
        if words.take("of") { device.user = try words.word("a user's name", form) }
        if words.take("with") {
            repeat {
                _ = words.take("and")
                try readSetting(of: &device, &words, form)
            } while words.takeComma() || words.take("and")
        }
        try words.end(form)
        try add(device)
    }

    private mutating func add(_ device: StoryDevice) throws {
        let reserved = ["everyone", "service", "the", "expect", "under"]
        guard !devices.contains(where: { $0.name == device.name }) else {
            throw StoryError("There is a device \(device.name) already.", "Choose another name.")
        }
        guard !reserved.contains(device.name), device.name.first?.isLetter == true else {
            throw StoryError("A device cannot be called '\(device.name)'.", "Choose another name.")
        }
        devices.append(device)
    }

    private func readSetting(
        of device: inout StoryDevice, _ words: inout StoryWords, _ form: String
    ) throws {
        if words.take("policy") {
            device.rule = try StoryWords.rule(&words, form).name
        } else if words.take("deletion") {
            device.deletion = try StoryWords.deletion(&words, form)
        } else if words.take("model") {
            device.model = try words.word("a model's name", form)
        } else if words.take("clock") {
            device.clockSeconds = try StoryWords.skew(&words)
        } else if words.take("no key") {
            device.hasKey = false
        } else if words.take("the store of") {
            device.sharedStore = try words.word("a device's name", form)
        } else {
            throw StoryError(
                "That is no setting of a device.",
                "There are policy, deletion, model, clock, 'no key', and 'the store of ANOTHER'.")
        }
    }
}

extension StoryWords {
    static func rule(named name: String) throws -> MergeRule {
        guard let rule = MergeRule(name: name) else {
            throw StoryError(
                "There is no rule '\(name)'.",
                "There are \(MergeRule.names.joined(separator: ", ")).")
        }
        return rule
    }

    static func rule(_ words: inout StoryWords, _ form: String) throws -> MergeRule {
        try rule(named: words.word("a rule", form))
    }

    static func deletion(_ words: inout StoryWords, _ form: String) throws -> DeletionRule {
        let name = try words.word("a rule of deletion", form)
        guard let rule = DeletionRule(rawValue: name) else {
            throw StoryError(
                "There is no rule of deletion '\(name)'.", "There are deleteWins and keepEdited.")
        }
        return rule
    }

    /// "5 minutes", in seconds.
    static func duration(_ words: inout StoryWords) throws -> Double {
        let form = "3 hours, 2 days, 30 seconds"
        let number = try words.word("a number", form)
        let unit = try words.word("seconds, minutes, hours, days or weeks", form)
        guard let count = Double(number), count >= 0, count <= 1_000_000 else {
            throw StoryError("'\(number)' is no number of \(unit).", "Write: \(form)")
        }
        let units: [String: Double] = [
            "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800,
        ]
        guard let seconds = units[unit.hasSuffix("s") ? String(unit.dropLast()) : unit] else {
            throw StoryError("'\(unit)' is no unit of time.", "Write: \(form)")
        }
        return count * seconds
    }

    /// "5 minutes ahead", in seconds.
    static func skew(_ words: inout StoryWords) throws -> Double {
        let seconds = try duration(&words)
        if words.take("ahead") { return seconds }
        if words.take("behind") { return -seconds }
        throw StoryError("A clock is ahead or behind.", "Write: 5 minutes ahead")
    }
}
