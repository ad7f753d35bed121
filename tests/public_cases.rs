//! Published cases of people with the same task: their data, the advice that they got, and the
//! right answer. Each file of vectors names its sources.

mod links;
mod solver;
