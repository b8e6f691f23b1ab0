@_exported public import Foundation
@_exported public import ObjectModel
@_exported public import Persistence
@_exported public import Predicates

// Foundation off Apple's platforms has empty classes of these names. A file that imports CoreData
// alone sees these. A FILE THAT ALSO IMPORTS FOUNDATION finds the names ambiguous: leave that
// import out (CoreData brings it along), or let the build plugin CoreDataModels say in the app's
// module which ones are meant, or write `public typealias NSExpression = CoreData.NSExpression`
// there. See docs/SWIFT.md.
/// The class that predicates and requests take, not the empty one of Foundation's on this platform.
public typealias NSExpression = Predicates.NSExpression
// A FILE THAT ALSO IMPORTS FOUNDATION: see above; docs/SWIFT.md.
/// The class that formats make, not the empty one of Foundation's on this platform.
public typealias NSComparisonPredicate = Predicates.NSComparisonPredicate
