/// Where Apple's framework raises an exception: a mistake in the program that no function there can
/// throw.
///
/// All such ends of this module are here, each with a sentence that says what to do. They are fatal
/// errors, since of a failed precondition an optimized program says nothing.
enum ProgrammingMistake {
    static func undefinedKey(_ message: String) -> Never { fatalError(message) }

    static func notToMany(_ key: String, of entity: String?) -> Never {
        fatalError(
            "The entity \"\(entity ?? "")\" has no to-many relationship \"\(key)\".")
    }

    static func crossingContexts() -> Never {
        fatalError(
            "A relationship cannot lead to an object of another context. Fetch the object in this "
                + "context first: context.object(with: other.objectID).")
    }

    static func ownParent(_ name: String?) -> Never {
        fatalError(
            "The context \"\(name ?? "")\" cannot be its own parent, nor that of its parents; set "
                + "another one, or a coordinator.")
    }

    static func wrongQueue(_ name: String?) -> Never {
        fatalError(
            "Multithreading violation: the context \"\(name ?? "")\" or one of its objects is used "
                + "outside its queue. Use them in perform or performAndWait, a main-queue context "
                + "on the main thread.")
    }

    static func noUndoGroup() -> Never {
        fatalError(
            "An undo action was registered outside of a group; call beginUndoGrouping first, or "
                + "let groupsByEvent be true.")
    }

    static func unbalancedUndoGroup() -> Never {
        fatalError("endUndoGrouping was called without a matching beginUndoGrouping.")
    }

    static func nestedUndoGroups() -> Never {
        fatalError(
            "undo was called while nested undo groups are open; close them with endUndoGrouping.")
    }

    static func unbalancedUndoRegistration() -> Never {
        fatalError(
            "enableUndoRegistration was called without a matching disableUndoRegistration.")
    }

    static func unknownEntity(_ name: String) -> Never {
        fatalError(
            "The context's model has no entity \"\(name)\"; check the name, and that the "
                + "context has a coordinator.")
    }

    static func unnamedKeyPath(_ root: Any.Type, _ value: Any.Type) -> Never {
        fatalError(
            "The key path from \(root) to \(value) leads to no property of a loaded model. Make a "
                + "coordinator or container first, or give the key path as a text.")
    }

    static func itemInNoSection(_ item: Any) -> Never {
        fatalError(
            "The item \(item) to stand beside is in no section of the snapshot; append items to a "
                + "section first.")
    }

    static func unfitLiteral(_ type: Any.Type) -> Never {
        fatalError("An array literal cannot make a \(type); make it from an array.")
    }

    static func noModel(named name: String) -> Never {
        fatalError(
            "No model \"\(name)\" (.momd, .mom, .xcdatamodeld, .xcdatamodel) is among the "
                + "program's resources; add it, or use init(name:managedObjectModel:)."
        )
    }

    static func mistypedProperty(
        _ key: String, of entity: String?, found: Any?, declared: Any.Type
    ) -> Never {
        let value = found.map { "\(type(of: $0))" } ?? "nil"
        fatalError(
            "\"\(key)\" of \"\(entity ?? "")\" is \(value), but the class declares \(declared). "
                + "Make the declaration fit the model.")
    }

    static func unknownCase(
        _ key: String, of entity: String?, found: Any, declared: Any.Type
    ) -> Never {
        fatalError(
            "\"\(key)\" of \"\(entity ?? "")\" holds a \(type(of: found)) that is no case of "
                + "\(declared), and none stands for it. Let it be CaseIterable, make the property "
                + "optional, or give the attribute a default in the model.")
    }

    static func mistypedResult(_ found: Any, wanted: Any.Type) -> Never {
        fatalError(
            "A fetch found \(type(of: found)), and \(wanted) was asked for; name the class in the "
                + "model, or make the request for NSManagedObject.")
    }

    static func unsortedResults() -> Never {
        fatalError(
            "An instance of NSFetchedResultsController requires a fetch request with sort "
                + "descriptors")
    }

    static func untrackedResults(_ resultType: String) -> Never {
        fatalError(
            "NSFetchedResultsController does not support both change tracking and fetch requests "
                + "with \(resultType); fetch objects, or set no delegate.")
    }

    static func noResult(at path: [Int]) -> Never {
        guard path.count == 2 else {
            fatalError("An index path of results has a section and a row, not \(path).")
        }
        fatalError("no object at index \(path[1]) in section at index \(path[0])")
    }

    static func noSectionIndexTitle(_ title: String, at index: Int) -> Never {
        fatalError("Index title at \(index) is not equal to '\(title)'")
    }

    /// Cannot happen: a request ends only after its work.
    static func unansweredRequest() -> Never {
        fatalError("Work that another context was to do did not return.")
    }

    static func noMigration() -> Never {
        fatalError(
            "The migration manager has contexts and mappings only while it migrates a store; ask "
                + "for them in a migration policy.")
    }

    static func wrapperOutsideObject() -> Never {
        fatalError("@Managed works on properties of NSManagedObject subclasses.")
    }
}
