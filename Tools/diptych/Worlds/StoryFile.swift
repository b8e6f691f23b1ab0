internal import Foundation
internal import MirrorTestKit

/// A file with a story.
struct StoryFile {
    let name: String
    let story: Story

    /// Throws a `CommandError` that tells the line of what cannot be understood.
    init(_ name: String) throws {
        self.name = name
        let url = URL(fileURLWithPath: name).absoluteURL
        guard let data = try? GivenFile.data(url), let text = String(data: data, encoding: .utf8)
        else {
            throw GivenFile.unreadable(
                name, as: "story", code: "noStory",
                hint: "Give a text file in UTF-8; `diptych scenario new FILE` writes one.",
                status: .usage)
        }
        do {
            story = try Story(text: text, folder: url.deletingLastPathComponent())
        } catch let error as StoryError {
            let place = error.line > 0 ? ", line \(error.line)" : ""
            throw CommandError(
                "badStory", "\(name)\(place): \(error.message)", hint: error.hint, status: .usage)
        }
    }

    /// What `scenario new` writes.
    static let template = """
        # A conflict story: who does what, and what is expected. docs/STORIES.md has all lines.
        story The same field twice

        # What there is.
        entity Note: title text, views integer counter
        devices Ann, Ben

        # What happens.
        Ann inserts Note n with title "Milk"
        everyone settles
        Ann sets n.title to "Milk and bread"
        Ben sets n.title to "Oat milk"
        Ann syncs
        Ben syncs
        everyone settles

        # What is expected, on every device.
        expect n.title is "Oat milk"
        expect n.title was logged on Ben
        expect everyone agrees

        """
}
