/// Why a field of Apple's archives may differ from ours. Nothing else may.
enum ArchiveReason {
    typealias Difference = ArchiveComparison.Difference

    static func reason(for difference: Difference) -> String? {
        ofTexts(difference) ?? ofCompilers(difference) ?? ofMemory(difference)
            ?? ofOptimizedModels(difference) ?? ofIndexes(difference)
    }

    private static func ofTexts(_ difference: Difference) -> String? {
        guard difference.theirs == "NSMutableString", difference.ours == "text" else { return nil }
        return "equal text, there in an object of its own since it was made in memory"
    }

    private static func ofCompilers(_ difference: Difference) -> String? {
        guard difference.place.contains(".CDMCompiler"), difference.ours == "absent" else {
            return nil
        }
        return "version of Apple's model compiler, which we are not"
    }

    /// Collections whose class tells how the program that wrote the cache had built its model.
    private static func ofMemory(_ difference: Difference) -> String? {
        let pairs = [["NSArray", "NSMutableArray"], ["NSMutableSet", "NSSet"]]
        if pairs.contains([difference.theirs, difference.ours].sorted()) {
            return "equal collection, changeable or not as the model in memory had it"
        }
        if difference.place == "NSAttributeDescription.NSDefaultValue", difference.ours == "$null",
            difference.theirs.contains(".")
        {
            return "default value of the program's own class, which no reader can make"
        }
        return nil
    }

    /// Models that were loaded from an optimized file keep that file's economies in the cache.
    private static func ofOptimizedModels(_ difference: Difference) -> String? {
        if difference.theirs == "_NSPropertyDescriptionProxy" {
            return "inherited property as a reference, in models loaded from optimized files"
        }
        if difference.place == "NSEntityDescription.NSSubentities", difference.theirs == "$null",
            difference.ours == "empty NSMutableDictionary"
        {
            return "no subentities, in models loaded from optimized files"
        }
        let flags = ["integer 0": "flag false", "integer 1": "flag true"]
        if difference.place == "NSAttributeDescription.NSDefaultValue",
            flags[difference.theirs] == difference.ours
        {
            return "Boolean default as a number, in models loaded from optimized files"
        }
        return nil
    }

    private static func ofIndexes(_ difference: Difference) -> String? {
        let places = ["NSCompoundIndexes", "NSFetchIndexDescriptions"]
        if places.contains(where: { difference.place == "NSEntityDescription.\($0)" }),
            difference.theirs == "empty NSMutableArray", difference.ours == "absent"
        {
            return "empty list of indexes, made when the framework asked for one"
        }
        return nil
    }
}
