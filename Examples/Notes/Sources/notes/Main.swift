import CoreData
import Foundation
import NotesModel

@main struct Main {
    static func main() throws {
        let path = CommandLine.arguments.dropFirst().first ?? "Notes.sqlite"
        let context = try NotesStack.open(at: URL(fileURLWithPath: path)).viewContext

        let folder = Folder(context: context)
        folder.name = "Garden"
        let tag = Tag(context: context)
        tag.name = "spring"
        for title in ["Sow peas", "Cut roses"] {
            let note = Note(context: context)
            note.title = title
            note.priority = .high
            note.addToTags(tag)
            folder.addToNotes(note)
        }
        try context.save()

        let request: NSFetchRequest<Folder> = Folder.fetchRequest()
        for folder in try context.fetch(request) {
            print("\(folder.name ?? ""): \(folder.notes?.count ?? 0) notes")
            for case let note as Note in folder.notes ?? [] {
                let tags = note.tags.map(\.label).sorted().joined(separator: " ")
                print("  \(note.title ?? "") (\(note.priority)) \(tags)")
            }
        }
    }
}
