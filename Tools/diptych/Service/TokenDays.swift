/// How long tokens last, as an option says it: a number of days, or `none` for no end.
enum TokenDays {
    static let standard = 365

    static func read(
        _ option: Option, _ arguments: Arguments, standard: Int?
    ) throws -> Int? {
        guard let text = arguments.value(option) else { return standard }
        guard text != "none" else { return nil }
        guard let days = Int(text), (1...36_500).contains(days) else {
            throw CommandError(
                "usage", "--\(option.name) is a number of days or none, which '\(text)' is not.",
                hint: "Give one from 1 to 36500, or none for tokens without an end.",
                status: .usage)
        }
        return days
    }
}
